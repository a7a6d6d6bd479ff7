"""Beginnings of a purgatory's calls on a real clock, and the operations they concern.

A check or a cancellation of a key concerns those watched under it that are not completed; the other
calls concern the one that they name.
"""

from purgatory_spec import operations as op
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    FollowedOperation,
    PurgatoryCall,
)
from purgatory_traces.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge


def called(known: PurgatoryKnowledge, operation: op.Operation, at_ms: int) -> PurgatoryCall:
    """Follow a call that begins; see ``Follower``."""
    known.read(at_ms)
    call = PurgatoryCall(operation, at_ms, known.closed)
    if isinstance(operation, op.Watch):
        _watch_called(known, call, operation)
    elif isinstance(operation, op.Check):
        call.passes_completed = known.operations.stale_keys.take(operation.key) is not None
        key_called(known, call, operation.key, "check")
    elif isinstance(operation, op.CancelForKey):
        key_called(known, call, operation.key, "cancel")
    elif isinstance(operation, op.Force):
        known.concern(call, known.named_by_force(operation.operation), ("force",))
    elif isinstance(operation, op.Satisfy):
        followed = known.operations.by_name.get(operation.operation)
        if followed is not None:
            known.concern(call, followed, ("satisfy",))
    elif isinstance(operation, op.Shutdown):
        shutdown_called(known, at_ms)
    elif not isinstance(operation, op.Advance | op.RunOne | op.Wait):
        raise Unusable(f"a purgatory on a wall clock has no {op.operation_name(operation)}")
    return call


def key_called(known: PurgatoryKnowledge, call: PurgatoryCall, key: str, word: str) -> None:
    """Begin a call that concerns the operations under a key that are not completed."""
    known.operations.open(call)
    for followed in known.operations.under(key):
        if not followed.is_completed:
            known.concern(call, followed, (word, followed.keys[key]))


def _watch_called(known: PurgatoryKnowledge, call: PurgatoryCall, watch: op.Watch) -> None:
    if not watch.keys or call.began_closed:
        return
    followed = known.named(watch.operation, is_new=True)
    enter(known, followed, watch.keys)
    if known.operations.satisfied.take(watch.operation) and followed.memory is not None:
        slot = followed.take_slot()
        known.tell(followed, ("satisfy", slot))
        known.tell(followed, ("returned", slot, None))
        followed.free_slot(slot)
    may_time_out(known, followed, call.called_ms, watch.delay_ms)
    numbers = tuple(followed.keys[key] for key in watch.keys)
    known.concern(call, followed, ("watch", numbers))


def may_time_out(
    known: PurgatoryKnowledge, followed: FollowedOperation, called_ms: int, delay_ms: int
) -> None:
    """Note that a watch under way arms the time-out of an operation, or moves it."""
    if known.time_outs:
        early_ms = known.interval.early(called_ms, delay_ms)
        if followed.early_ms is None or early_ms < followed.early_ms:
            followed.early_ms = early_ms
    followed.late_ms = None


def enter(known: PurgatoryKnowledge, followed: FollowedOperation, keys: tuple[str, ...]) -> None:
    """Enter an operation under keys, whose open calls concern it from now on."""
    for key in keys:
        known.operations.enter(followed, key)
    for open_call in known.operations.open_calls_of(followed):
        word = "check" if isinstance(open_call.operation, op.Check) else "cancel"
        assert isinstance(open_call.operation, op.Check | op.CancelForKey)
        known.concern(open_call, followed, (word, followed.keys[open_call.operation.key]))


def shutdown_called(known: PurgatoryKnowledge, at_ms: int) -> None:
    """Let time-outs be dropped from now on. Rules: PURGATORY-SHUTDOWN-DROPS."""
    if not known.begins_to_close():
        return
    for name, followed in known.operations.by_name.items():
        is_due = followed.early_ms is not None and followed.early_ms <= at_ms
        if is_due and not followed.is_completed:
            known.cut_off.add(name)
        known.tell(followed, ("shutting",))
