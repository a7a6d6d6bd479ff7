"""The snapshot of a purgatory on a real clock: to begin with it, and to compare with it.

A call that was open when it was taken may have done any part of what it does. What a check has left
undone is followed all the same; operations that any other call may have left half done are followed
loosely. So are all of them where a cancellation was open: nobody knows which it had taken.
"""

from purgatory_spec import operations as op
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.purgatory import blame
from purgatory_traces.replay.overlapping.purgatory.calls import (
    enter,
    may_time_out,
    shutdown_called,
)
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    Fate,
    FollowedOperation,
    PurgatoryCall,
)
from purgatory_traces.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import Memory, resumed
from purgatory_traces.replay.overlapping.recent_names import RecentNames
from purgatory_traces.traces.lines import NS_PER_MS, OpenCall, Snapshot, WaitingOperation


def resume(
    known: PurgatoryKnowledge, snapshot: Snapshot, now_ms: int
) -> list[tuple[str, op.Operation, PurgatoryCall]]:
    """Begin with what a snapshot says; the calls that were open then."""
    known.now_ms = known.snapshot_ms = now_ms
    known.operations.recent.has_forgotten = True
    known.runs_since_snapshot = RecentNames()
    known.closing = known.closed = snapshot.closed
    half_done = _half_done(snapshot)
    for waiting in snapshot.operations:
        _resume_one(known, waiting, now_ms, loosely=waiting.operation in half_done)
    return [
        (each.thread, each.operation, _resume_call(known, each, is_closed=snapshot.closed))
        for each in snapshot.calls
    ]


def _resume_call(
    known: PurgatoryKnowledge, open_call: OpenCall, *, is_closed: bool
) -> PurgatoryCall:
    """Go on with a call that was open when a snapshot was taken."""
    operation = open_call.operation
    call = PurgatoryCall(operation, open_call.at_ns // NS_PER_MS, is_closed, is_whole=False)
    known.operations.open(call)
    if isinstance(operation, op.Check):
        key = operation.key
        for followed in known.operations.under(key):
            slot = call.concerned[followed] = followed.take_slot()
            if followed.memory is not None:
                followed.memory = followed.memory.amid_check(slot, followed.keys[key])
    if isinstance(operation, op.Watch | op.Force):
        followed = _resume_loosely(known, call, operation.operation)
        if isinstance(operation, op.Watch):
            enter(known, followed, operation.keys)
            may_time_out(known, followed, call.called_ms, operation.delay_ms)
    if isinstance(operation, op.Shutdown):
        shutdown_called(known, call.called_ms)
    return call


def _resume_loosely(known: PurgatoryKnowledge, call: PurgatoryCall, name: str) -> FollowedOperation:
    """Return the operation that an open call names, which it may have left half done."""
    followed = known.named(name, is_new=True)
    followed.memory = None
    known.concern(call, followed, ("force",))
    return followed


def _resume_one(
    known: PurgatoryKnowledge, waiting: WaitingOperation, now_ms: int, *, loosely: bool
) -> None:
    """Go on with one operation that a snapshot tells of."""
    if waiting.completed:
        fate = Fate.LOOSE if loosely else Fate.TOLD_COMPLETED
        known.operations.recent.put(waiting.operation, fate)
        for key in waiting.entries:
            known.operations.stale_keys.put(key, True)
        return
    followed = FollowedOperation(waiting.operation, None)
    known.operations.by_name[waiting.operation] = followed
    for key in waiting.entries:
        known.operations.enter(followed, key)
    numbers = tuple(followed.keys[key] for key in waiting.entries)
    if not loosely:
        followed.memory = resumed(known.system, waiting, numbers)
    _resume_time_out(known, followed, waiting, now_ms)


def _resume_time_out(
    known: PurgatoryKnowledge, followed: FollowedOperation, waiting: WaitingOperation, now_ms: int
) -> None:
    """Set the readings between which the time-out of a snapshot's operation comes."""
    lateness_ms = known.interval.lateness_ms
    if waiting.early_ms is not None:
        followed.early_ms = known.interval.early(waiting.early_ms)
    if waiting.late_ms is not None:
        late_ms = known.interval.late(waiting.late_ms)
        followed.late_ms = max(late_ms, now_ms + lateness_ms)
    if waiting.queued:
        followed.early_ms = 0  # A line may be a little older than the snapshot.
        followed.late_ms = max(now_ms + lateness_ms, followed.late_ms or 0)
    if followed.late_ms is not None:
        known.wait_for(followed.late_ms, followed.name)


def compare(known: PurgatoryKnowledge, snapshot: Snapshot, now_ms: int) -> Finding | None:
    """Compare a middle snapshot with the knowledge about operations without open calls."""
    told = {waiting.operation: waiting for waiting in snapshot.operations}
    latest_ms = now_ms + known.interval.lateness_ms
    for name, followed in sorted(known.operations.by_name.items()):
        if followed.slots or followed.is_completed or followed.memory is None:
            continue
        if not _may_stand(known, followed, followed.memory, told.get(name), latest_ms):
            return blame.of_snapshot(followed, told.get(name, WaitingOperation(name)))
    for name in sorted(told.keys() - known.operations.by_name.keys()):
        if not _may_be_done_with(known, told[name]):
            return blame.of_snapshot(FollowedOperation(name, None), told[name])
    return None


def _may_stand(
    known: PurgatoryKnowledge,
    followed: FollowedOperation,
    memory: Memory,
    told: WaitingOperation | None,
    latest_ms: int,
) -> bool:
    """Decide whether an operation without open calls may be as a snapshot tells, or left out.

    Once it is due its time-out may have completed it, of which no line has come yet. What is owed
    is not compared once a shutdown drops time-outs.
    """
    is_due = followed.early_ms is not None and followed.early_ms <= latest_ms
    if is_due and (told is None or told.completed):
        return True
    standing = told or WaitingOperation(followed.name)
    if any(key not in followed.keys for key in standing.entries):
        return False
    if not is_due and standing.queued:
        return False
    if not _may_time_out_then(known, followed, standing):
        return False
    asks_time_out = known.time_outs and not known.closing
    return memory.may_stand(
        tuple(followed.keys[key] for key in standing.entries),
        completed=standing.completed,
        owed=(standing.early_ms is not None or standing.queued > 0) if asks_time_out else None,
    )


def _may_time_out_then(
    known: PurgatoryKnowledge, followed: FollowedOperation, told: WaitingOperation
) -> bool:
    """Decide whether an operation's time-out may have the expiry that a snapshot tells."""
    if told.early_ms is None or told.late_ms is None:
        return True
    early_ms = known.interval.early(told.late_ms)
    late_ms = known.interval.late(told.early_ms)
    is_too_early = followed.early_ms is not None and early_ms < followed.early_ms
    return not is_too_early and (followed.late_ms is None or late_ms <= followed.late_ms)


def _may_be_done_with(known: PurgatoryKnowledge, told: WaitingOperation) -> bool:
    """Decide whether a snapshot may tell of an operation that is not followed any more.

    It tells of stale entries, and of what nothing is known of. What waits is followed.
    """
    fate = known.operations.recent.get(told.operation)
    if fate is Fate.LOOSE or known.is_unknown(told.operation):
        return True
    if fate is None:
        return known.operations.recent.has_forgotten
    return told.completed or not (told.entries or told.early_ms is not None)


def _half_done(snapshot: Snapshot) -> frozenset[str]:
    """Return the operations on which an open call may be at work."""
    calls = [each.operation for each in snapshot.calls]
    cancels = any(isinstance(each, op.CancelForKey) for each in calls)
    names = {
        waiting.operation
        for waiting in snapshot.operations
        if cancels or (waiting.completed and calls)
    }
    names.update(
        each.operation for each in calls if isinstance(each, op.Watch | op.Force | op.Satisfy)
    )
    return frozenset(names)
