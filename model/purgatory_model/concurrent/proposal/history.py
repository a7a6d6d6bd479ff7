"""Visible events of the steps of the concurrent purgatory."""

from collections.abc import Iterator

from purgatory_model.concurrent.proposal.state import (
    Caller,
    Completer,
    Place,
    ProposalInstance,
    ProposalState,
)
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    HistoryEvent,
    Returned,
    Step,
    thread_of,
)
from purgatory_spec.operations import Advance, CancelForKey, Check, RunOne, Satisfy, Watch
from purgatory_spec.outcomes import Value, completed, expired, timed_out, tried

DELAY_MS = 1
"""The delay with which every operation is watched, ms: long enough to wait, and due some time."""

_TRIES = frozenset(
    {
        "FirstTryFails",
        "FirstTryCompletes",
        "SecondTryFails",
        "SecondTryCompletes",
        "TryFails",
        "TryCompletes",
    }
)


def seen(
    instance: ProposalInstance, before: ProposalState, step: Step, after: ProposalState
) -> Iterator[HistoryEvent]:
    """Yield calls, callbacks and returns in their order; mostly none."""
    thread = thread_of(step)
    yield from _calls(instance, before, step, after)
    name = str(step.arguments[-1])
    if step.action in _TRIES and not _is_completed(before, step):
        yield Happened(thread, tried(name))
    elif step.action == "CallOnComplete":
        yield Happened(thread, completed(name))
    elif step.action == "CallOnExpiration":
        yield Happened(thread, timed_out(name))
    elif step.action == "Advance":
        yield Happened(thread, expired(name))
    if after.threads[thread].place is Place.IDLE:
        yield Returned(thread, _result(instance, before, step))


def _is_completed(before: ProposalState, step: Step) -> bool:
    return step.arguments[-1] in before.completed


def _calls(
    instance: ProposalInstance, before: ProposalState, step: Step, after: ProposalState
) -> Iterator[HistoryEvent]:
    """Yield the calls that a step begins."""
    thread = thread_of(step)
    match step.action, step.arguments[-1]:
        case "FirstTryFails" | "FirstTryCompletes", operation:
            yield Called(thread, Watch(str(operation), instance.keys, DELAY_MS))
        case "Raise" | "Check", str(key):
            for operation in _satisfied(instance, before, after):
                yield Called(thread, Satisfy(str(operation)))
                yield Returned(thread)
            yield Called(thread, Check(key))
        case "CancelForKey", str(key):
            yield Called(thread, CancelForKey(key))
        case "Advance" | "ReadEstimate", _:
            yield Called(thread, Advance(0))
        case "TakeExpired", _:
            yield Called(thread, RunOne())


def _satisfied(
    instance: ProposalInstance, before: ProposalState, after: ProposalState
) -> Iterator[int]:
    """Yield the operations that can be completed from now on."""
    for operation in range(1, len(instance.thresholds) + 1):
        if not instance.may_complete(before, operation) and instance.may_complete(after, operation):
            yield operation


def _result(instance: ProposalInstance, before: ProposalState, step: Step) -> Value:
    """Return the result that a call returns with its last step; None without one.

    Rules: PURGATORY-WATCH-WAITS, PURGATORY-CHECK-COUNT, PURGATORY-CANCEL-RESULT.
    """
    match before.threads[thread_of(step)]:
        case Caller():
            return step.action == "CallOnComplete"
        case Completer(about=about) if instance.programs:
            cancelled = step.action in ("CancelForKey", "Withdraw")
            return tuple(map(str, about)) if cancelled else len(about)
        case _:
            return None
