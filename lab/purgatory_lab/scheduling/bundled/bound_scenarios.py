"""The scenarios that a concurrent model runs as well, with either accounting."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, TypeVar

from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.history import SETUP
from purgatory_lab.scheduling.model_outcomes import End, EndsOf, Told, after_setup, ends
from purgatory_lab.scheduling.scenario import Program, Scenario, World
from purgatory_model.concurrent.exact.instance import EXECUTOR, TIMER
from purgatory_model.concurrent.exact.model import ConcurrentExact, ExactInstance, ExactState
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import REAPER, ProposalInstance, ProposalState
from purgatory_model.overlapping.interleaving import ConcurrentModel, Happened
from purgatory_model.overlapping.programs import Programmed, settles_always
from purgatory_spec import operations as op
from purgatory_spec.operations import Advance, Check, Force, Operation, RunOne, Satisfy, Watch

ModelState = TypeVar("ModelState", ExactState, ProposalState)
Calls: TypeAlias = tuple[Operation, ...]
Instance: TypeAlias = ExactInstance | ProposalInstance

_OF_THE_MODEL: Final = (Satisfy, Advance, RunOne)
"""The calls that a model makes by itself: in an event, or in threads of its own."""


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


_PURGE: Final = op.Advance(0)
_NO_PURGE: Final = 100
"""A purge interval that no scenario exceeds, entries."""


def queue_is_empty(state: ExactState | ProposalState) -> bool:
    """Decide whether the executor has run its whole queue."""
    return not state.queue


def nothing_is_stale(state: ExactState | ProposalState) -> bool:
    """Decide whether every stale entry was purged."""
    completed = state.completed
    return not any(number in completed for each in state.lists.values() for number in each)


def first_is_purged(state: ExactState | ProposalState) -> bool:
    """Decide whether the entries of operation 1 were purged."""
    return not any(1 in each for each in state.lists.values())


def purged_before_time_outs(state: ExactState | ProposalState) -> bool:
    """Decide whether every stale entry was purged before any time-out came."""
    return nothing_is_stale(state) and not state.queue


def _event_of(key: str) -> Callable[[ExactState | ProposalState], bool]:
    """Return a test that the executor has run, and that the check of a key met an event of it."""
    return lambda state: state.events[key] > 0 and queue_is_empty(state)


def _watch(name: str, keys: tuple[str, ...]) -> op.Watch:
    return op.Watch(name, keys, 1)


_K: Final = ("k",)
_KL: Final = ("k", "l")
_TIME: Final = frozenset({TIMER, EXECUTOR})
_exact: Final = partial(
    ExactInstance,
    callers=("watch",),
    completers=(),
    purgers=(),
    operations=1,
    keys=_K,
    purge_interval=_NO_PURGE,
    features=frozenset({"time-outs", "evaluate-then-win", "stops-inserting"}),
    programs=True,
    ordered=True,
)
_proposal: Final = partial(
    ProposalInstance,
    callers=("watch",),
    completers=("check",),
    keys=_K,
    thresholds=(1,),
    purge_interval=_NO_PURGE,
    programs=True,
    ordered=True,
)

EXACT_SCENARIOS: Final = (
    BoundScenario(
        "watch-and-check",
        _exact(completers=("check",)),
        {"watch": (_watch("1", _K),), "check": (op.Satisfy("1"), op.Check("k"))},
    ),
    BoundScenario(
        "watch-and-check-of-two-keys",
        _exact(completers=("check",), keys=_KL),
        {"watch": (_watch("1", _KL),), "check": (op.Satisfy("1"), op.Check("l"))},
    ),
    BoundScenario(
        "watch-and-cancel",
        _exact(cancellers=("cancel",), keys=_KL),
        {"watch": (_watch("1", _KL),), "cancel": (op.CancelForKey("k"), op.CancelForKey("l"))},
    ),
    BoundScenario(
        "watch-and-force",
        _exact(forcers=("force",), keys=_KL),
        {"watch": (_watch("1", _KL),), "force": (op.Force("1"),)},
    ),
    BoundScenario(
        "watch-and-expiry",
        _exact(keys=_KL),
        {"watch": (_watch("1", _KL),), "time": (op.Advance(1), op.RunOne())},
        background=_TIME,
        settled=queue_is_empty,
    ),
    BoundScenario(
        "check-and-force",
        _exact(completers=("check",), forcers=("force",), keys=_KL),
        {"check": (op.Satisfy("1"), op.Check("k")), "force": (op.Force("1"),)},
        setup=(_watch("1", _KL),),
    ),
    BoundScenario(
        "check-and-expiry",
        _exact(completers=("check",), keys=_KL),
        {"check": (op.Satisfy("1"), op.Check("l")), "time": (op.Advance(1), op.RunOne())},
        setup=(_watch("1", _KL),),
        background=_TIME,
        settled=queue_is_empty,
    ),
    BoundScenario(
        "check-and-cancel",
        _exact(completers=("check",), cancellers=("cancel",), keys=_KL),
        {"check": (op.Satisfy("1"), op.Check("k")), "cancel": (op.CancelForKey("k"),)},
        setup=(_watch("1", _KL),),
    ),
    BoundScenario(
        "check-and-check",
        _exact(completers=("check", "other"), operations=2),
        {
            "check": (op.Satisfy("1"), op.Satisfy("2"), op.Check("k")),
            "other": (op.Satisfy("1"), op.Satisfy("2"), op.Check("k")),
        },
        setup=(_watch("1", _K), _watch("2", _K)),
    ),
    BoundScenario(
        "watch-and-purge",
        _exact(forcers=("force",), purgers=("purge",), operations=2, keys=_KL, purge_interval=0),
        {"watch": (_watch("2", _KL),), "purge": (_PURGE,)},
        setup=(_watch("1", _KL), op.Force("1")),
        background=frozenset({"purge"}),
        settled=nothing_is_stale,
    ),
    BoundScenario(
        "force-and-two-purges",
        _exact(
            forcers=("force",), purgers=("purge", "again"), operations=2, keys=_KL, purge_interval=0
        ),
        {"force": (op.Force("2"),), "purge": (_PURGE,), "again": (_PURGE,)},
        setup=(_watch("1", _KL), _watch("2", _KL), op.Force("1")),
        background=frozenset({"purge", "again"}),
        settled=first_is_purged,
    ),
    BoundScenario(
        "force-and-amortised-purge",
        _exact(
            forcers=("force",),
            purgers=("purge",),
            operations=3,
            keys=_K,
            features=frozenset({"amortised"}),
        ),
        {"force": (op.Force("2"),), "purge": (_PURGE,)},
        setup=(_watch("1", _K), _watch("2", _K), _watch("3", _K), op.Force("1")),
        background=frozenset({"purge"}),
    ),
    BoundScenario(
        "rewatch-and-cancel",
        _exact(cancellers=("cancel",), keys=_KL, max_calls=2),
        {"watch": (_watch("1", _KL),), "cancel": (op.CancelForKey("k"), op.CancelForKey("l"))},
        setup=(_watch("1", _KL),),
    ),
    BoundScenario(
        "watch-and-check-and-force",
        _exact(completers=("check",), forcers=("force",), keys=_KL),
        {
            "watch": (_watch("1", _KL),),
            "check": (op.Satisfy("1"), op.Check("l")),
            "force": (op.Force("1"),),
        },
    ),
    BoundScenario(
        "watch-and-check-and-cancel",
        _exact(completers=("check",), cancellers=("cancel",), keys=_KL),
        {
            "watch": (_watch("1", _KL),),
            "check": (op.Satisfy("1"), op.Check("l")),
            "cancel": (op.CancelForKey("k"),),
        },
    ),
)
"""The scenarios of the exact accounting."""

PROPOSAL_SCENARIOS: Final = (
    BoundScenario(
        "proposal-watch-and-check",
        _proposal(),
        {"watch": (_watch("1", _K),), "check": (op.Satisfy("1"), op.Check("k"))},
        settled=_event_of("k"),
    ),
    BoundScenario(
        "proposal-watch-and-check-of-two-keys",
        _proposal(keys=_KL),
        {"watch": (_watch("1", _KL),), "check": (op.Satisfy("1"), op.Check("k"))},
        settled=_event_of("k"),
        wider="a caller does not hold the operation's lock from its first try to its second, so "
        "that a walk of the first key may complete it before it is in the list of the second",
    ),
    BoundScenario(
        "proposal-watch-and-expiry",
        _proposal(completers=(), keys=_KL),
        {"watch": (_watch("1", _KL),), "time": (op.Advance(1), op.RunOne())},
        background=frozenset({REAPER, EXECUTOR}),
        settled=queue_is_empty,
    ),
    BoundScenario(
        "proposal-check-and-expiry",
        _proposal(keys=_KL),
        {"check": (op.Satisfy("1"), op.Check("l")), "time": (op.Advance(1), op.RunOne())},
        setup=(_watch("1", _KL),),
        background=frozenset({REAPER, EXECUTOR}),
        settled=_event_of("l"),
        stricter="a walk looks at an operation once more after its try, and drops it if somebody "
        "else has completed it meanwhile; in the published order it stays for a purge",
    ),
    BoundScenario(
        "proposal-watch-and-purge",
        _proposal(thresholds=(1, 2), keys=_KL, purge_interval=0),
        {"watch": (_watch("2", _KL),), "purge": (_PURGE,)},
        setup=(_watch("1", _KL), op.Satisfy("1"), op.Check("k")),
        background=frozenset({REAPER}),
        settled=purged_before_time_outs,
    ),
)
"""The scenarios of the accounting of the proposal."""

BOUND_SCENARIOS: Final[dict[str, BoundScenario]] = {
    bound.name: bound for bound in (*EXACT_SCENARIOS, *PROPOSAL_SCENARIOS)
}
"""All of them, by name."""
