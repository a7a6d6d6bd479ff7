"""The snapshot of a timer on a real clock: to begin with it, and to compare with it."""

from collections import Counter

from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.judge import NS_PER_MS
from purgatory_pipeline.replay.overlapping.timer import blame
from purgatory_pipeline.replay.overlapping.timer.calls import OtherCall, called
from purgatory_pipeline.replay.overlapping.timer.knowledge import TimerKnowledge
from purgatory_pipeline.replay.overlapping.timer_armings import (
    Arming,
    FollowedTask,
    Situation,
    TimerCall,
)
from purgatory_pipeline.traces.lines import PendingTask, Snapshot
from purgatory_spec.operations import Add, Operation


def resume(
    known: TimerKnowledge, snapshot: Snapshot, now_ms: int
) -> list[tuple[str, Operation, TimerCall | OtherCall]]:
    """Begin with what a snapshot says; calls that were open may have taken effect before."""
    late = known.interval.lateness_ms
    for pending in snapshot.tasks:
        arming = Arming(
            known.interval.early(pending.early_ms),
            max(known.interval.late(pending.late_ms), now_ms + late),
            known.next_number(),
        )
        known.tasks[pending.task] = FollowedTask([Situation(arming)])
        known.wait_for(arming, pending.task)
    for task in snapshot.queued:
        # Its run may have been read before the snapshot, by as much as a line may come later.
        arming = Arming(now_ms - late, now_ms + late, known.next_number())
        followed = known.tasks.setdefault(task, FollowedTask())
        followed.situations = [
            each._replace(ended=(*each.ended, arming)) for each in followed.situations
        ]
        known.wait_for(arming, task)
    known.closing = known.closed = snapshot.closed
    calls = [
        (each.thread, each.operation, called(known, each.operation, each.at_ns // NS_PER_MS))
        for each in snapshot.calls
    ]
    known.number_when_closed = known.number
    for _, _, opened in calls:
        if isinstance(opened, TimerCall):
            _may_be_over(known, opened)
    return calls


def _may_be_over(known: TimerKnowledge, call: TimerCall) -> None:
    """A call that was open at a snapshot may have taken effect before it."""
    followed = known.tasks[call.task]
    followed.situations += [
        each._replace(taken=each.taken | {call.number}) for each in followed.situations
    ]


def compare(known: TimerKnowledge, snapshot: Snapshot, now_ms: int) -> Finding | None:
    """A snapshot in the middle must hold what is certainly armed, and nothing else.

    It tells what is the case when its line is written, which is later than its reading by as much
    as any line's.
    """
    if snapshot.closed and not known.closing:
        return blame.of_closed_snapshot(is_closed=False)
    if known.closed and not snapshot.closed:
        return blame.of_closed_snapshot(is_closed=True)
    told = {pending.task for pending in snapshot.tasks}
    told.update(snapshot.queued)
    told.update(call.operation.task for call in snapshot.calls if isinstance(call.operation, Add))
    latest_ms = now_ms + known.interval.lateness_ms
    for task in sorted(known.tasks.keys() - told):
        followed = known.tasks[task]
        owed = [each.armed for each in followed.situations if not followed.calls]
        if owed and all(each is not None and each.early_ms > latest_ms for each in owed):
            return blame.of_snapshot(task, is_armed=True)
    for task in sorted(told - known.tasks.keys()):
        return blame.of_snapshot(task, is_armed=False)
    # While it shuts down nobody knows what is dropped already.
    return None if known.closing else _compare_times(known, snapshot, latest_ms)


def _compare_times(known: TimerKnowledge, snapshot: Snapshot, latest_ms: int) -> Finding | None:
    """What a snapshot tells of a task that nobody calls must be how things may stand with it."""
    queued = Counter(snapshot.queued)
    pending = {each.task: each for each in snapshot.tasks}
    for task in sorted(pending.keys() | queued.keys()):
        followed = known.tasks[task]
        if followed.calls:
            continue
        if not any(
            _may_stand(known, each, pending.get(task), queued[task], latest_ms)
            for each in followed.situations
        ):
            return blame.of_told_times(task, pending.get(task), queued[task], followed)
    return None


def _may_stand(
    known: TimerKnowledge,
    situation: Situation,
    pending: PendingTask | None,
    queued: int,
    latest_ms: int,
) -> bool:
    """Whether a task may be pending as is told, or not, and be so often in the queue."""
    handed_over = list(situation.ended)
    armed = situation.armed
    if pending is None and armed is not None:
        handed_over.append(armed)
    elif pending is not None and (armed is None or not _is_of(known, armed, pending)):
        return False
    return sum(each.early_ms <= latest_ms for each in handed_over) >= queued


def _is_of(known: TimerKnowledge, armed: Arming, pending: PendingTask) -> bool:
    """Whether an arming may have the expiry that a snapshot tells."""
    if known.interval.early(pending.late_ms) < armed.early_ms:
        return False
    return armed.late_ms is None or known.interval.late(pending.early_ms) <= armed.late_ms
