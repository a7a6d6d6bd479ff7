"""How a thread that has completed an operation goes on, whoever it is.

To complete is to set ``completed``, once, under the operation's lock; then to cancel the time-out;
then to call ``on_complete`` and let go of the lock.
"""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.concurrent.proposal.state import (
    Caller,
    Completer,
    Executor,
    Place,
    ProposalState,
    Worker,
)
from purgatory_model.overlapping.interleaving import Step


def completing(state: ProposalState, name: str, worker: Worker, operation: int) -> ProposalState:
    """The state after a thread has taken an operation's lock and completed it."""
    return replace(
        state,
        completed=state.completed | {operation},
        holders=state.holders.set(operation, name),
        threads=state.threads.set(name, replace(worker, place=Place.CANCEL, operation=operation)),
    )


def completion_steps(
    state: ProposalState, name: str, worker: Worker
) -> Iterator[tuple[Step, ProposalState]]:
    """The rest of a completion. Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT."""
    operation = worker.operation
    if worker.place is Place.CANCEL:
        after = replace(state, timer=state.timer - {operation})
        calling = replace(worker, place=Place.CALLBACK)
        yield Step("CancelTimeOut", (name, operation)), after.to(name, calling)
    elif worker.place is Place.CALLBACK:
        times = state.callbacks.get(operation, 0) + 1
        after = replace(
            state,
            callbacks=state.callbacks.set(operation, times),
            holders=state.freed(operation, name),
        )
        yield Step("CallOnComplete", (name, operation)), after.to(name, _called_back(worker))


def _called_back(worker: Worker) -> Worker:
    match worker:
        case Caller():
            return replace(worker, place=Place.IDLE, operation=0)
        case Completer():
            return replace(worker, place=Place.DROP)
        case Executor():
            return replace(worker, place=Place.EXPIRATION)
