"""What the calls of a timer on a real clock do and may say: adds, cancels, shutdowns.

A call takes effect at some instant between its beginning and its return. An arming that it ends
must not run any more, unless it may already have been handed over by then.
"""

from typing import NamedTuple

from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerState, timer_model
from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.timer import blame
from purgatory_pipeline.replay.overlapping.timer.knowledge import TimerKnowledge
from purgatory_pipeline.replay.overlapping.timer_armings import FollowedTask, TimerCall
from purgatory_spec.operations import (
    Add,
    Advance,
    Cancel,
    Operation,
    RunOne,
    Shutdown,
    Wait,
    operation_name,
)
from purgatory_spec.reasons import Reason


class OtherCall(NamedTuple):
    """An open call that concerns no task by name."""

    operation: Operation
    began_closed: bool


def called(known: TimerKnowledge, operation: Operation, at_ms: int) -> TimerCall | OtherCall:
    """A call begins; see ``Follower``."""
    match operation:
        case Add(task, delay_ms):
            return _opened(known, task, at_ms, delay_ms, known.interval.early(at_ms, delay_ms))
        case Cancel(task):
            return _opened(known, task, at_ms, None, 0)
        case Shutdown():
            if not known.closing:
                known.closing = True
                for name, followed in known.tasks.items():
                    if followed.is_due(at_ms):
                        known.cut_off.add(name)
                    followed.drop(None)
        case Advance() | RunOne() | Wait():
            pass
        case _:
            raise Unusable(f"a timer on a wall clock has no {operation_name(operation)}")
    return OtherCall(operation, known.closed)


def returned(
    known: TimerKnowledge, call: TimerCall | OtherCall, rejected: Reason | None, at_ms: int
) -> Finding | None:
    """A call returns; see ``Follower``."""
    if isinstance(call, OtherCall):
        return _other_returned(known, call, rejected, at_ms)
    followed = known.tasks[call.task]
    if call.delay_ms is None:
        finding = _cancelled(known, call, followed, rejected, at_ms)
    else:
        finding = _added(known, call, call.delay_ms, followed, rejected, at_ms)
    known.forget_if_idle(call.task, followed)
    return finding


def _opened(
    known: TimerKnowledge, task: str, at_ms: int, delay_ms: int | None, early_ms: int
) -> TimerCall:
    followed = known.named(task)
    rules = _NO_RULES if delay_ms is None else _rules_of_add(followed, delay_ms)
    call = TimerCall(known.next_number(), task, at_ms, delay_ms, early_ms, rules)
    followed.calls[call.number] = call
    return call


def _added(
    known: TimerKnowledge,
    call: TimerCall,
    delay_ms: int,
    followed: FollowedTask,
    rejected: Reason | None,
    at_ms: int,
) -> Finding | None:
    """An add returns. Rules: TIMER-SHUTDOWN-CLOSED, TIMER-LARGEST-DELAY."""
    allowed = _refusals(known, call, delay_ms)
    is_lost = rejected is None and allowed == _ALWAYS_CLOSED and known.takes_after_shutdown
    if rejected not in allowed and not is_lost:
        followed.take_no_effect(call)
        return blame.of_add(delay_ms, allowed, rejected)
    if rejected is not None:
        if None not in allowed:  # or it could have been taken, and no rule was put to the test
            known.visits[blame.RULES_OF_REFUSALS[rejected]] += 1
        followed.take_no_effect(call)
        return None
    if is_lost:
        known.has_taken_after_shutdown()
        followed.take_no_effect(call)
        return None
    _end_arming(known, followed, at_ms, frozenset({"TIMER-READD-PENDING"}))
    followed.ended_by = frozenset()
    late_ms = known.interval.late(at_ms, delay_ms)
    followed.take_effect(call, late_ms, at_ms, optional=known.closing)
    known.deadlines.put(late_ms + known.interval.lateness_ms, call.task)
    return None


def _cancelled(
    known: TimerKnowledge,
    call: TimerCall,
    followed: FollowedTask,
    rejected: Reason | None,
    at_ms: int,
) -> Finding | None:
    """A cancel returns. Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED."""
    if rejected is not None:
        followed.take_no_effect(call)
        return blame.of_rejection("TIMER-CANCEL", rejected)
    if followed.situations[0].armed is None:
        unarmed = "TIMER-CANCEL-FIRED" if followed.ran else "TIMER-CANCEL-UNKNOWN"
        known.visits["TIMER-CANCEL-AGAIN" if followed.ended_by else unarmed] += 1
    _end_arming(known, followed, at_ms, frozenset({"TIMER-CANCEL"}))
    followed.take_effect(call, 0, at_ms)
    return None


def _end_arming(
    known: TimerKnowledge, followed: FollowedTask, at_ms: int, rules: frozenset[str]
) -> None:
    """Remember by which rules the arming that a call ends must not run."""
    armed = followed.situations[0].armed
    if armed is None:
        return
    followed.ended_by = rules
    if armed.early_ms > at_ms and armed.late_ms is not None:
        known.passing.put(armed.late_ms, rules)


def _other_returned(
    known: TimerKnowledge, call: OtherCall, rejected: Reason | None, at_ms: int
) -> Finding | None:
    if isinstance(call.operation, Shutdown):
        if rejected is not None:
            return blame.of_rejection("TIMER-SHUTDOWN-AGAIN", rejected)
        if call.began_closed:
            known.visits["TIMER-SHUTDOWN-AGAIN"] += 1
        known.visits["TIMER-SHUTDOWN-DROPS"] += 1
        _shut(known, at_ms)
        return None
    if rejected is None or (rejected is Reason.CLOSED and known.closing):
        return None
    return blame.of_rejection("TIMER-IDLE-ADVANCE", rejected)


def _shut(known: TimerKnowledge, at_ms: int) -> None:
    """What is armed is dropped. Rules: TIMER-SHUTDOWN-DROPS."""
    if known.closed:
        return
    known.closed = True
    known.number_when_closed = known.number
    for task, followed in list(known.tasks.items()):
        followed.ended_by = frozenset({"TIMER-SHUTDOWN-DROPS"})
        if not followed.calls:
            followed.drop(at_ms)
        known.forget_if_idle(task, followed)


def _refusals(known: TimerKnowledge, call: TimerCall, delay_ms: int) -> frozenset[Reason | None]:
    """What the model says of an add, before and after a shutdown that it overlaps."""
    profile = known.instance.profile
    if not known.closing and 0 <= delay_ms <= profile.largest_delay_ms:
        return _ACCEPTED
    model = timer_model(known.instance.configuration, profile)
    allowed: set[Reason | None] = set()
    if not known.closed or call.number <= known.number_when_closed:
        allowed.add(model.refusal(_OPEN, delay_ms))
    if known.closing:
        allowed.add(model.refusal(_SHUT, delay_ms))
    return frozenset(allowed)


def _rules_of_add(followed: FollowedTask, delay_ms: int) -> frozenset[str]:
    """The rules that are put to the test when the task runs."""
    rules = set()
    if delay_ms == 0:
        rules.add("TIMER-ZERO-DELAY")
    if delay_ms < 0:
        rules.add("TIMER-NEGATIVE-DELAY")
    if delay_ms <= 0:
        rules.add("TIMER-ALREADY-DUE")
    if followed.situations[0].armed is not None:
        rules.add("TIMER-READD-PENDING")
    elif "TIMER-CANCEL" in followed.ended_by:
        rules.add("TIMER-READD-CANCELLED")
    elif followed.ended_by:
        rules.add("TIMER-READD-PENDING")
    elif followed.ran:
        rules.add("TIMER-READD-FIRED")
    return frozenset(rules) if rules else _NO_RULES


_NO_RULES = frozenset[str]()
_ACCEPTED: frozenset[Reason | None] = frozenset({None})
_ALWAYS_CLOSED: frozenset[Reason | None] = frozenset({Reason.CLOSED})
_OPEN = TimerState(0, PendingTasks())
_SHUT = TimerState(0, PendingTasks(), closed=True)
