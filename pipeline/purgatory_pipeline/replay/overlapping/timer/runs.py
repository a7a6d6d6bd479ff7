"""When the tasks of a timer on a real clock run, and when they should have.

Never early is a MUST, lateness is a SHOULD. That a run is missing is said when its line should have
come, too. So rules that a missing run breaks are visited when that time has passed, and never where
the trace ends before.
"""

from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.timer import blame
from purgatory_pipeline.replay.overlapping.timer.knowledge import TimerKnowledge
from purgatory_spec.outcomes import Event, EventKind

_VISITED_AT_ONCE = ("TIMER-NOT-EARLY", "TIMER-EXACTLY-ONCE")
_VISITED_IN_TIME = frozenset({"TIMER-NOT-LATE", "TIMER-LATENESS"})


def happened(known: TimerKnowledge, event: Event, first_ms: int, last_ms: int) -> Finding | None:
    """A task is handed over or runs. Rules: TIMER-NOT-EARLY, TIMER-EXACTLY-ONCE."""
    followed = known.tasks.get(event.task)
    if event.kind is EventKind.EXPIRED:
        if followed is None or not any(a.early_ms <= last_ms for a in followed.armings()):
            return blame.of_run(known, event.task, followed, first_ms, last_ms)
        return None
    if event.kind is EventKind.REJECTED:
        return None
    if event.kind is not EventKind.RAN:
        raise Unusable(f"a task of a timer is never {event.kind.value}")
    ran = None if followed is None else followed.run(first_ms, last_ms)
    if followed is None or ran is None:
        return blame.of_run(known, event.task, followed, first_ms, last_ms)
    followed.ran = True
    known.cut_off.discard(event.task)
    (arming,) = ran
    if arming is not None:
        known.visits.update(_VISITED_AT_ONCE)
        if arming.late_ms is not None:
            told_ms = arming.late_ms + known.interval.lateness_ms
            known.in_time.put(told_ms, _VISITED_IN_TIME | arming.rules)
        if known.interval.tick_ms > 1:
            known.visits["TIMER-ROUNDING"] += 1
    known.forget_if_idle(event.task, followed)
    return None


def passed(known: TimerKnowledge, now_ms: int) -> Finding | None:
    """What should have run by now, and its line should have come. Rules: TIMER-LATENESS."""
    known.passing.pass_to(now_ms, known.visits)
    known.in_time.pass_to(now_ms, known.visits)
    if known.deadlines.is_crowded(len(known.tasks)):
        known.deadlines.rebuild(known.waited_for())
    for task in known.deadlines.before(now_ms):
        finding = _overdue(known, task, now_ms - known.interval.lateness_ms, now_ms)
        if finding is not None:
            return finding
    return None


def ended(known: TimerKnowledge, now_ms: int) -> Finding | None:
    """What should have run by the end: no line comes any more. Rules: TIMER-LATENESS."""
    for _, task in sorted(known.waited_for()):
        finding = _overdue(known, task, now_ms, now_ms)
        if finding is not None:
            return finding
    known.passing.pass_to(now_ms, known.visits)
    if not known.closed:  # or what has not run may have been dropped
        known.in_time.pass_to(now_ms + known.interval.lateness_ms, known.visits)
    return None


def _overdue(known: TimerKnowledge, task: str, over_ms: int, now_ms: int) -> Finding | None:
    """Whether a task should have run by a reading in any case."""
    followed = known.tasks.get(task)
    if followed is None:
        return None
    overdue = followed.pass_to(over_ms)
    if overdue is not None:
        return blame.of_overdue(task, overdue, now_ms)
    known.forget_if_idle(task, followed)
    return None
