"""What should have timed out by a reading of the clock, of a purgatory on a real clock.

Rules: PURGATORY-TIME-OUT, TIMER-LATENESS, PURGATORY-NOT-LOST.
"""

from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.purgatory import blame
from purgatory_pipeline.replay.overlapping.purgatory.followed_operations import FollowedOperation
from purgatory_pipeline.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge


def wait_for(known: PurgatoryKnowledge, followed: FollowedOperation) -> None:
    """An operation has to time out by its latest time, and that to be told soon after."""
    if followed.late_ms is not None:
        lateness_ms = known.interval.lateness_ms
        known.deadlines.put(followed.late_ms + lateness_ms, followed.name)


def pending_expiries(known: PurgatoryKnowledge) -> int:
    """How many operations had to time out, and were not overdue, at the end or at the shutdown."""
    return len(known.cut_off) if known.closing else len(_waited_for(known))


def passed(known: PurgatoryKnowledge, now_ms: int) -> Finding | None:
    """What should have timed out by now, and its line should have come."""
    known.passing.pass_to(now_ms, known.visits)
    known.in_time.pass_to(now_ms, known.visits)
    if known.deadlines.is_crowded(len(known.operations.by_name)):
        known.deadlines.rebuild(_waited_for(known))
    for name in known.deadlines.before(now_ms):
        finding = _overdue(known, name, now_ms - known.interval.lateness_ms, now_ms)
        if finding is not None:
            return finding
    return None


def ended(known: PurgatoryKnowledge, now_ms: int) -> Finding | None:
    """What should have timed out by the end: no line comes any more."""
    for _, name in sorted(_waited_for(known)):
        finding = _overdue(known, name, now_ms, now_ms)
        if finding is not None:
            return finding
    known.passing.pass_to(now_ms, known.visits)
    if not known.closed:  # or what has not timed out may have been dropped
        known.in_time.pass_to(now_ms + known.interval.lateness_ms, known.visits)
    return None


def _overdue(known: PurgatoryKnowledge, name: str, over_ms: int, now_ms: int) -> Finding | None:
    """Whether an operation should have timed out by a reading."""
    followed = known.operations.by_name.get(name)
    if followed is None or followed.is_completed:
        return None
    if followed.late_ms is None or followed.late_ms >= over_ms:
        return None
    known.read(now_ms)
    if not known.tell(followed, ("late",)):
        return blame.late(followed, f"it has not by {now_ms}")
    known.forget_if_settled(followed)
    return None


def _waited_for(known: PurgatoryKnowledge) -> list[tuple[int, str]]:
    """The operations whose time-outs are waited for, with their latest times."""
    return [
        (followed.late_ms + known.interval.lateness_ms, name)
        for name, followed in known.operations.by_name.items()
        if followed.late_ms is not None and not followed.is_completed
    ]
