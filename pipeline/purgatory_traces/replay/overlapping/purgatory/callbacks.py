"""Callbacks of a purgatory on a real clock: tries, completions, ``on_expiration``.

An operation that is completed outside of every call that concerns it is completed by its time-out,
which runs in that thread until ``on_expiration`` is called.
"""

from purgatory_spec.operations import Check
from purgatory_spec.outcomes import Event, EventKind
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.purgatory import blame
from purgatory_traces.replay.overlapping.purgatory.followed_operations import (
    Fate,
    FollowedOperation,
    PurgatoryCall,
)
from purgatory_traces.replay.overlapping.purgatory.knowledge import PurgatoryKnowledge
from purgatory_traces.replay.overlapping.purgatory.operation_monitor import RUN

_KEEPS_TIME_OUT = "PURGATORY-CANCEL-KEEPS-TIME-OUT"


def happened(
    known: PurgatoryKnowledge,
    thread: str,
    call: PurgatoryCall | None,
    event: Event,
    first_ms: int,
    last_ms: int,
) -> Finding | None:
    """Follow a callback that begins; see ``Follower``."""
    known.read(last_ms)
    followed = known.operations.by_name.get(event.task)
    match event.kind:
        case EventKind.TRIED:
            return _tried(known, call, followed, event)
        case EventKind.COMPLETED:
            return _completed(known, thread, call, followed, event, first_ms, last_ms)
        case EventKind.TIMED_OUT:
            return _timed_out(known, thread, call, followed, event)
        case EventKind.EXPIRED | EventKind.REJECTED:
            return None
    raise Unusable(f"a delayed operation is never {event.kind.value}")


def _tried(
    known: PurgatoryKnowledge,
    call: PurgatoryCall | None,
    followed: FollowedOperation | None,
    event: Event,
) -> Finding | None:
    """Follow a try. Rules: PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-CANCEL-LEAVES."""
    if EventKind.TRIED in known.begin.omitted:
        return None
    if call is not None:
        call.tries += 1
    slot = None if call is None or followed is None else call.concerned.get(followed)
    if followed is not None and slot is not None and known.tell(followed, ("tried", slot)):
        return None
    if followed is None and known.is_unknown(event.task):
        return None
    if slot is None and _may_have_met(known, call, followed, event.task):
        return None
    fate = known.operations.recent.get(event.task)
    return blame.of_try(event.task, call, followed, fate)


def _may_have_met(
    known: PurgatoryKnowledge,
    call: PurgatoryCall | None,
    followed: FollowedOperation | None,
    name: str,
) -> bool:
    """Decide whether a check from before the trace may have met an operation now out of its list.

    If that is not completed it is followed loosely from then on.
    """
    if call is None or call.is_whole or not isinstance(call.operation, Check):
        return False
    fate = known.operations.recent.get(name)
    if fate in (Fate.COMPLETED, Fate.TOLD_COMPLETED) or (followed and followed.is_completed):
        return True
    followed = known.named(name, is_new=True)
    followed.memory = None
    known.concern(call, followed, ("check",))
    return True


def _completed(
    known: PurgatoryKnowledge,
    thread: str,
    call: PurgatoryCall | None,
    followed: FollowedOperation | None,
    event: Event,
    first_ms: int,
    last_ms: int,
) -> Finding | None:
    """Follow a completion. Rules: PURGATORY-EXACTLY-ONCE."""
    fate = known.operations.recent.get(event.task)
    if followed is None:
        if known.is_unknown(event.task):
            if call is not None:
                call.completions += 1
            return None
        if known.may_run_unseen(thread, call, event.task, ends=False):
            return None
        return blame.of_completion(event.task, call, None, fate)
    slot = None if call is None else call.concerned.get(followed)
    if call is not None and slot is not None:
        if followed.is_completed or not known.tell(followed, ("completed", slot)):
            return blame.of_completion(event.task, call, followed, fate)
        followed.completed_in = call
        call.completions += 1
    else:
        finding = _run(known, thread, call, followed, first_ms, last_ms)
        if finding is not None:
            return finding
    followed.is_completed = True
    known.cut_off.discard(followed.name)
    known.visits["PURGATORY-EXACTLY-ONCE"] += 1
    return None


def _run(
    known: PurgatoryKnowledge,
    thread: str,
    call: PurgatoryCall | None,
    followed: FollowedOperation,
    first_ms: int,
    last_ms: int,
) -> Finding | None:
    """Follow a completion by a time-out, outside of every completing call.

    Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-LAST-KEY.
    """
    if followed.is_completed:
        return blame.of_completion(followed.name, call, followed, None)
    if followed.early_ms is None or last_ms < followed.early_ms:
        return blame.early(followed, call, last_ms)
    if followed.late_ms is not None and first_ms > followed.late_ms:
        return blame.late(followed, f"it does at {first_ms}")
    run = call if call is not None else known.runs.setdefault(thread, PurgatoryCall(None))
    if run.run is not None:
        return blame.without_expiration(run.run[0], f"{followed.name} is completed")
    known.runs_seen(thread)
    if followed.late_ms is not None and known.has_to_time_out(followed):
        known.has_come(followed.name, followed.late_ms, frozenset({"PURGATORY-TIME-OUT"}))
    slot = followed.take_slot()
    run.run = followed, slot
    if known.tell(followed, ("completed", RUN)):
        return None
    return blame.of_completion(followed.name, call, followed, None)


def _timed_out(
    known: PurgatoryKnowledge,
    thread: str,
    call: PurgatoryCall | None,
    followed: FollowedOperation | None,
    event: Event,
) -> Finding | None:
    """Follow an ``on_expiration``. Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIME-OUT."""
    run = call if call is not None else known.runs.get(thread)
    if run is None or run.run is None or run.run[0] is not followed:
        if followed is None and known.is_unknown(event.task):
            return None
        if known.may_run_unseen(thread, call, event.task, ends=True):
            return None
        return blame.of_expiration(event.task, call)
    followed, slot = run.run
    run.run = None
    if call is None:
        del known.runs[thread]
    if not known.tell(followed, ("timed_out", RUN)):
        return blame.of_expiration(event.task, call)
    followed.free_slot(slot)
    known.visits["PURGATORY-CALLBACK-ORDER"] += 1
    if followed.was_cancelled:
        known.visits[_KEEPS_TIME_OUT] += 1
    known.forget_if_settled(followed)
    return None
