"""Returns of a purgatory's calls on a real clock, which must agree with their effects.

That a check counts what it has completed is judged by the call. All else is judged by each of the
operations that the call concerns: its return is told to every one of them.
"""

from collections import Counter

from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.purgatory import blame
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    Fate,
    FollowedOperation,
    PurgatoryCall,
)
from purgatory_traces.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge


def returned(
    known: PurgatoryKnowledge,
    call: PurgatoryCall,
    result: Value,
    rejected: Reason | None,
    at_ms: int,
) -> Finding | None:
    """Follow a call that returns; see ``Follower``."""
    known.read(at_ms)
    known.operations.close(call)
    if call.run is not None and rejected is None:
        return blame.without_expiration(call.run[0], "the call returns")
    if not call.is_whole:
        return _returned_since_snapshot(known, call, result, rejected, at_ms)
    if rejected is not None:
        return _rejected(known, call, rejected)
    match call.operation:
        case op.Watch() as watch:
            return _watched(known, call, watch, result, at_ms)
        case op.Check():
            return _checked(known, call, result)
        case op.CancelForKey():
            return _cancelled(known, call, result)
        case op.Force():
            return _forced(known, call, result)
        case op.Satisfy(name):
            _satisfied(known, call, name)
        case op.Shutdown():
            _shut(known)
        case _:
            pass
    return None


def _returned_since_snapshot(
    known: PurgatoryKnowledge,
    call: PurgatoryCall,
    result: Value,
    rejected: Reason | None,
    at_ms: int,
) -> Finding | None:
    """Follow the return of a call that began before the trace's snapshot."""
    operation = None if rejected is not None else call.operation
    if isinstance(operation, op.Check):
        if isinstance(result, bool) or not isinstance(result, int) or result < call.completions:
            return blame.of_count(call, result)
        return _share(known, call, result)
    if isinstance(operation, op.Watch) and known.time_outs:
        for followed in call.concerned:
            followed.late_ms = known.interval.late(at_ms, operation.delay_ms)
            known.wait_for(followed.late_ms, followed.name)
    if isinstance(operation, op.Shutdown):
        _drop_time_outs(known)
    known.let_go(call)
    return None


def _rejected(known: PurgatoryKnowledge, call: PurgatoryCall, rejected: Reason) -> Finding | None:
    """Follow a rejection: a right one, or the program's own exception."""
    if rejected is Reason.THROWN:
        known.let_go(call)
        return None
    operation = call.operation
    if isinstance(operation, op.Watch):
        if _may_reject_watch(known, call, operation.keys, rejected):
            no_keys = rejected is Reason.INVALID_ARGUMENT
            rule = "PURGATORY-NO-KEYS" if no_keys else "PURGATORY-SHUTDOWN-CLOSED"
            known.visits[rule] += 1
            known.let_go(call)
            return None
        if not operation.keys and known.deviates("no_keys_internal"):
            return None
    is_closed = rejected is Reason.CLOSED and known.closing
    if is_closed and isinstance(operation, op.Advance | op.RunOne):
        return None
    return blame.of_rejection(call, rejected)


def _may_reject_watch(
    known: PurgatoryKnowledge, call: PurgatoryCall, keys: tuple[str, ...], rejected: Reason
) -> bool:
    """Decide if a watch may be rejected. Rules: PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED."""
    allowed = {Reason.CLOSED} if known.closing else set()
    if not keys and not call.began_closed:
        allowed.add(Reason.INVALID_ARGUMENT)
    return rejected in allowed and not (call.began_closed and call.tries)


def _watched(
    known: PurgatoryKnowledge, call: PurgatoryCall, watch: op.Watch, result: Value, at_ms: int
) -> Finding | None:
    """Follow a watch's return. Rules: PURGATORY-WATCH-WAITS, PURGATORY-WATCH-SECOND-TRY."""
    if not call.concerned:
        return _taken(known, call, watch)
    if not isinstance(result, bool):
        return blame.of_result(call, "true or false", result)
    followed, slot = next(iter(call.concerned.items()))
    _visit_watch(known, call, followed, result=result)
    if not known.tell(followed, ("returned", slot, result)):
        tries_first = known.system.tries_first
        return blame.of_watch(call, followed, result=result, tries_first=tries_first)
    followed.free_slot(slot)
    if known.time_outs:
        followed.late_ms = known.interval.late(at_ms, watch.delay_ms)
        if known.closing:
            followed.memory = None
        elif not followed.is_completed:
            known.wait_for(followed.late_ms, followed.name)
    known.forget_if_settled(followed)
    return None


def _taken(known: PurgatoryKnowledge, call: PurgatoryCall, watch: op.Watch) -> Finding | None:
    """Return the finding of a watch that should have been rejected."""
    if call.began_closed and known.deviates("open_after_shutdown"):
        return None
    return blame.of_taken(call, watch)


def _visit_watch(
    known: PurgatoryKnowledge, call: PurgatoryCall, followed: FollowedOperation, *, result: bool
) -> None:
    tries_first = known.system.tries_first
    if call.tries and tries_first:
        known.visits["PURGATORY-WATCH-FIRST-TRY"] += 1
    if call.tries > tries_first:
        known.visits["PURGATORY-WATCH-SECOND-TRY"] += 1
    if not result and not followed.is_completed:
        known.visits["PURGATORY-WATCH-WAITS"] += 1


def _checked(known: PurgatoryKnowledge, call: PurgatoryCall, result: Value) -> Finding | None:
    """Follow a check's return. Rules: PURGATORY-CHECK-COUNT, PURGATORY-NOT-LOST.

    Neither the order of its tries is judged nor what leaves the list that is checked: by what is
    seen of one operation nothing can be said of that.
    """
    if isinstance(result, bool) or result != call.completions:
        return blame.of_count(call, result)
    known.visits["PURGATORY-CHECK-COUNT"] += 1
    visited = "PURGATORY-NOT-LOST" if call.concerned else "PURGATORY-CHECK-UNKNOWN"
    known.visits[visited] += 1
    if call.passes_completed and EventKind.TRIED not in known.begin.omitted:
        known.visits["PURGATORY-COMPLETED-NOT-TRIED"] += 1
    _visit_after_shutdown(known, call)
    return _share(known, call, result)


def _share(known: PurgatoryKnowledge, call: PurgatoryCall, result: Value) -> Finding | None:
    """Tell each operation of a check its share of the check's result."""
    for followed, slot in call.concerned.items():
        share = int(followed.completed_in is call)
        if not known.tell(followed, ("returned", slot, share)):
            return blame.of_check(followed, result)
        known.settle(followed, slot)
    return None


def _cancelled(known: PurgatoryKnowledge, call: PurgatoryCall, result: Value) -> Finding | None:
    """Follow a cancellation's return. Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES."""
    if not isinstance(result, tuple):
        return blame.of_result(call, "a list of operations", result)
    counts = Counter(result)
    for name in counts:
        known.excuse(name, call.called_ms)
        followed = known.operations.by_name.get(name)
        if followed is None and known.was_never_watched(name):
            return blame.of_unknown(name)
        if followed is None and known.system.cancels_live:
            fate = known.operations.recent.get(name)
            if fate in (Fate.COMPLETED, Fate.TOLD_COMPLETED):
                return blame.of_completed_result(name)
        if followed is None or followed in call.concerned or followed.is_completed:
            continue
        if followed.memory is not None:
            return blame.of_cancellation(followed, counts[name])
    has_some = call.concerned or result
    known.visits["PURGATORY-CANCEL-RESULT" if has_some else "PURGATORY-CANCEL-UNKNOWN"] += 1
    if has_some:
        known.visits["PURGATORY-CANCEL-LEAVES"] += 1
    _visit_after_shutdown(known, call)
    for followed, slot in call.concerned.items():
        if not known.tell(followed, ("cancelled", slot, counts[followed.name])):
            return blame.of_cancellation(followed, counts[followed.name])
        followed.was_cancelled = True
        known.settle(followed, slot)
    return None


def _forced(known: PurgatoryKnowledge, call: PurgatoryCall, result: Value) -> Finding | None:
    """Follow a force's return. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
    if not isinstance(result, bool):
        return blame.of_result(call, "true or false", result)
    known.visits["PURGATORY-FORCE" if result else "PURGATORY-FORCE-AGAIN"] += 1
    _visit_after_shutdown(known, call)
    for followed, slot in call.concerned.items():
        if followed.memory is None and result != (followed.completed_in is call):
            return blame.of_force(call, followed, result=result)
        if not known.tell(followed, ("returned", slot, result)):
            return blame.of_force(call, followed, result=result)
        known.settle(followed, slot)
    return None


def _visit_after_shutdown(known: PurgatoryKnowledge, call: PurgatoryCall) -> None:
    """Count a call that completes or cancels an operation after a shutdown."""
    if call.began_closed and call.concerned:
        known.visits["PURGATORY-SHUTDOWN-COMPLETES"] += 1


def _satisfied(known: PurgatoryKnowledge, call: PurgatoryCall, name: str) -> None:
    """Satisfy an operation, perhaps before it is watched."""
    if not call.concerned and name not in known.operations.by_name:
        known.operations.satisfied.put(name, True)
    for followed, slot in call.concerned.items():
        known.tell(followed, ("returned", slot, None))
        known.settle(followed, slot)


def _shut(known: PurgatoryKnowledge) -> None:
    """Drop the time-outs. Rules: PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-AGAIN."""
    known.visits["PURGATORY-SHUTDOWN-AGAIN" if known.closed else "PURGATORY-SHUTDOWN-DROPS"] += 1
    _drop_time_outs(known)


def _drop_time_outs(known: PurgatoryKnowledge) -> None:
    """Note that the purgatory is shut down from now on."""
    if known.closed:
        return
    known.closed = True
    for followed in list(known.operations.by_name.values()):
        if not followed.slots and not known.tell(followed, ("shut",)):
            followed.memory = None
        known.forget_if_settled(followed)
