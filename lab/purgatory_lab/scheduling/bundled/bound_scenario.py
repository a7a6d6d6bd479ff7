"""A scenario that a concurrent model runs as well: the same programs, and every end it comes to.

The model is laid beside the implementation: threads have the same names, operations are watched
under all keys, and an event of a key is told as ``Satisfy`` of what it makes completable, followed
by ``Check`` of the key. What the clock, the executor and a purge do the model leaves to threads of
its own, which may do it at any time or not at all. So it may come to ends that the programs here
cannot have, and the share of its ends that is seen says something about the programs, too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, TypeVar

from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.history import SETUP
from purgatory_lab.scheduling.model_outcomes import End, EndsOf, Told, after_setup, ends
from purgatory_lab.scheduling.scenario import Program, Scenario, World
from purgatory_model.concurrent.exact.model import ConcurrentExact, ExactInstance, ExactState
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import ProposalInstance, ProposalState
from purgatory_model.overlapping.interleaving import ConcurrentModel, Happened
from purgatory_model.overlapping.programs import Programmed, settles_always
from purgatory_spec.operations import Advance, Check, Force, Operation, RunOne, Satisfy, Watch

ModelState = TypeVar("ModelState", ExactState, ProposalState)
Calls: TypeAlias = tuple[Operation, ...]
Instance: TypeAlias = ExactInstance | ProposalInstance

_OF_THE_MODEL: Final = (Satisfy, Advance, RunOne)
"""What a model does by itself: in an event, or in threads of its own."""


@dataclass(frozen=True, slots=True)
class BoundScenario:
    """A scenario with the instance of the model that runs it as well.

    Attributes:
        instance: Of either model; its threads have the names of the programs.
        programs: The calls of each thread.
        setup: Calls that are over before.
        background: The threads of the model that do what some program here does with the clock,
            the executor or a purge.
        settled: What the model's state has to be like in the end, because the programs here leave
            it to no chance whether the executor runs and a purge is made.
        stricter: Why the implementation lacks ends that the model has, if it does.
        wider: Why the implementation has ends that the model lacks; empty if it has none.
    """

    name: str
    instance: Instance
    programs: Mapping[str, Calls]
    setup: Calls = ()
    background: frozenset[str] = frozenset()
    settled: Callable[[ExactState | ProposalState], bool] = settles_always
    stricter: str = ""
    wider: str = ""

    def scenario(self) -> Scenario:
        """Return the scenario for the implementation."""
        exact = isinstance(self.instance, ExactInstance)
        make = partial(
            PurgatoryWorld,
            accounting="exact" if exact else "proposal",
            purge_interval=self.instance.purge_interval,
            purge_due="amortised" if "amortised" in self.instance.features else "fixed",
        )
        programs = tuple(Program(thread, calls) for thread, calls in self.programs.items())
        about = "every end of its runs is one of the concurrent model"
        return Scenario(f"model-{self.name}", about, programs, make, self.setup)

    def look(self) -> EndsOf:
        """Return a look whether runs come to ends of the model."""
        return EndsOf(self.ends(), self.end_of, wider=bool(self.wider))

    def ends(self) -> frozenset[End]:
        """Return all ends that the model can reach."""
        if isinstance(self.instance, ExactInstance):
            exact = after_setup(ConcurrentExact(self.instance), self._setup_by_thread())
            return ends(self._programmed(exact), exact_counts)
        proposal = after_setup(ConcurrentProposal(self.instance), self._setup_by_thread())
        return ends(self._programmed(proposal), proposal_counts)

    def end_of(self, world: World) -> End:
        """Return the end that a run of the implementation has come to."""
        assert isinstance(world, PurgatoryWorld)
        events = [
            event
            for event in world.history.events
            if event.thread != SETUP
            and (isinstance(event, Happened) or event.thread in self._called())
        ]
        counts = world.counts()
        exact = isinstance(self.instance, ExactInstance)
        return Told().after(events).ended(counts if exact else without_stale(counts))

    def _programmed(self, model: ConcurrentModel[ModelState]) -> Programmed[ModelState]:
        return Programmed(model, self._called(), self.background, settled=self.settled)

    def _called(self) -> dict[str, Calls]:
        """Return the programs as the model has them."""
        programs = {
            thread: tuple(call for call in calls if not isinstance(call, _OF_THE_MODEL))
            for thread, calls in self.programs.items()
        }
        return {thread: calls for thread, calls in programs.items() if calls}

    def _setup_by_thread(self) -> Iterator[tuple[str, Operation]]:
        """Yield each call of the setup, with a thread of the instance that makes such calls."""
        for call in self.setup:
            match call:
                case Watch():
                    yield self.instance.callers[0], call
                case Check():
                    yield self.instance.completers[0], call
                case Force() if isinstance(self.instance, ExactInstance):
                    yield self.instance.forcers[0], call
                case Satisfy():
                    yield SETUP, call
                case _:
                    raise ValueError(f"{call} cannot be in the setup of a bound scenario")


def exact_counts(state: ExactState) -> Mapping[str, int]:
    """Return the counts of a state of the model of the exact accounting."""
    return {
        "entries": state.entries,
        "keys": sum(bool(bag) for bag in state.lists.values()),
        "timer_size": len(state.timer),
        "queued": len(state.queue),
        "pending": state.pending,
        "stale": state.stale,
        "estimate": state.estimate,
    }


def proposal_counts(state: ProposalState) -> Mapping[str, int]:
    """Return the counts of a state of the model of the proposal, which counts no stale entries."""
    return {
        "entries": sum(len(entries) for entries in state.lists.values()),
        "keys": sum(bool(entries) for entries in state.lists.values()),
        "timer_size": len(state.timer),
        "queued": len(state.queue),
        "pending": state.pending,
        "estimate": state.estimate,
    }


def without_stale(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts without the count of stale entries."""
    return {name: count for name, count in counts.items() if name != "stale"}
