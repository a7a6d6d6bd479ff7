"""What the executor does: it completes what has expired, unless somebody else was first."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.completion import completing, completion_steps
from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    Defect,
    Executor,
    Place,
    ProposalInstance,
    ProposalState,
)
from purgatory_model.overlapping.interleaving import Step

_IDLE = Executor()


def executor_steps(
    instance: ProposalInstance, state: ProposalState, executor: Executor
) -> Iterator[tuple[Step, ProposalState]]:
    """The next step of the executor; what it takes from its queue next is left to chance."""
    match executor.place:
        case Place.IDLE:
            if instance.may_begin(state, EXECUTOR):
                yield from _take(state)
        case Place.DECIDE:
            yield from _decide(instance, state, executor)
        case Place.SET:
            yield _set_completed(state, executor)
        case Place.EXPIRATION:
            yield _call_on_expiration(state, executor)
        case _:
            yield from completion_steps(state, EXECUTOR, executor)


def _take(state: ProposalState) -> Iterator[tuple[Step, ProposalState]]:
    for operation in sorted(state.queue):
        after = replace(state, queue=state.queue - {operation})
        deciding = Executor(Place.DECIDE, operation)
        yield Step("TakeExpired", (EXECUTOR, operation)), after.to(EXECUTOR, deciding)


def _decide(
    instance: ProposalInstance, state: ProposalState, executor: Executor
) -> Iterator[tuple[Step, ProposalState]]:
    """The time-out completes the operation, or finds it completed.

    Rules: PURGATORY-LOST-EXPIRY, PURGATORY-EXACTLY-ONCE.
    """
    operation = executor.operation
    if operation in state.completed:
        expires = Defect.EXPIRES_ANYWAY in instance.defects
        following = replace(executor, place=Place.EXPIRATION) if expires else _IDLE
        yield Step("ExpiryLoses", (EXECUTOR, operation)), state.to(EXECUTOR, following)
    elif Defect.TEST_THEN_SET in instance.defects:
        setting = replace(executor, place=Place.SET)
        yield Step("ExpiryTests", (EXECUTOR, operation)), state.to(EXECUTOR, setting)
    elif operation not in state.holders:
        won = completing(state, EXECUTOR, executor, operation)
        # It left the timer by being due: there is no time-out to cancel.
        calling = replace(executor, place=Place.CALLBACK)
        yield Step("ExpiryWins", (EXECUTOR, operation)), won.to(EXECUTOR, calling)


def _set_completed(state: ProposalState, executor: Executor) -> tuple[Step, ProposalState]:
    after = replace(state, completed=state.completed | {executor.operation})
    calling = replace(executor, place=Place.CALLBACK)
    return Step("ExpirySets", (EXECUTOR, executor.operation)), after.to(EXECUTOR, calling)


def _call_on_expiration(state: ProposalState, executor: Executor) -> tuple[Step, ProposalState]:
    """``on_expiration`` comes last. Rules: PURGATORY-CALLBACK-ORDER."""
    after = replace(state, expirations=state.expirations | {executor.operation})
    return Step("CallOnExpiration", (EXECUTOR, executor.operation)), after.to(EXECUTOR, _IDLE)
