"""The purgatory in the proposal's order of steps, with several threads at the same time.

Theory of operation. Every step is one access to shared memory, by one thread, as in
``tla/PurgatoryProposal.tla``; what harmlessly falls together there does here. A caller watches with
the operation's lock in hand and arms the time-out when it has let go of it. A completer raises a
key's event and walks the key's list, or cancels for the key. The reaper hands due operations to the
executor, and purges by the estimate, which it sets to the timer's size. The executor completes what
has expired.

What each kind of thread does is in ``calls``; completing is the same for all. The states are in
``state``, what is claimed of them in ``claims``.

Operation number n has the name ``str(n)`` in a history. The model has no clock: which operation is
due is left to chance, and a history says it by the event ``expired``, in a call ``Advance(0)``. An
event on a key shows as ``Satisfy`` of each operation that can be completed from then on, and a
``Check`` of the key. Purges are not seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.concurrent.proposal.calls import (
    caller_steps,
    completer_steps,
    executor_steps,
    reaper_steps,
)
from purgatory_model.concurrent.proposal.history import seen
from purgatory_model.concurrent.proposal.state import (
    Caller,
    Completer,
    Defect,
    Executor,
    Feature,
    Place,
    ProposalInstance,
    ProposalState,
    Reaper,
    first_state,
)
from purgatory_model.overlapping.interleaving import HistoryEvent, Step

__all__ = [
    "ConcurrentProposal",
    "Defect",
    "Feature",
    "ProposalInstance",
    "ProposalState",
]


@dataclass(frozen=True, slots=True)
class ConcurrentProposal:
    """The concurrent purgatory of an instance."""

    instance: ProposalInstance

    def initial(self) -> ProposalState:
        """Return the state before any watch, with every thread idle."""
        return first_state(self.instance)

    def steps(self, state: ProposalState) -> Iterator[tuple[Step, ProposalState]]:
        """Yield the labelled steps that leave a state."""
        for name in sorted(state.threads):
            match state.threads[name]:
                case Caller() as caller:
                    yield from caller_steps(self.instance, state, name, caller)
                case Completer() as completer:
                    yield from completer_steps(self.instance, state, name, completer)
                case Reaper() as reaper:
                    yield from reaper_steps(self.instance, state, reaper)
                case Executor() as executor:
                    yield from executor_steps(self.instance, state, executor)

    def history(
        self, before: ProposalState, step: Step, after: ProposalState
    ) -> tuple[HistoryEvent, ...]:
        """Return the visible events of a step."""
        return tuple(seen(self.instance, before, step, after))

    def busy(self, state: ProposalState) -> frozenset[str]:
        """Return the threads in the middle of a call, or the reaper in the middle of its pass."""
        return frozenset(
            name for name, thread in state.threads.items() if thread.place is not Place.IDLE
        )
