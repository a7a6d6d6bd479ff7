"""Every history of the concurrent purgatory is explained for each operation by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pytest

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.exact.state import ExactState
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.explained_runs import ExplainedRuns, check_runs
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, HistoryEvent, Returned, Step
from purgatory_model.overlapping.linearizability import Explainer, SearchState, explain
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.projection import Projected, Projection
from purgatory_model.overlapping.sequential_rules import Effect, Rule, Rules, sequential
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_spec.operations import CancelForKey, Check, Force, Operation, Watch
from purgatory_spec.outcomes import Value

from ..overlapping.whole_calls import WholeCalls
from .exact_alone import ExactAlone
from .exact_pairs import Pairs

Programs = dict[str, tuple[Operation, ...]]

ONE = ExactInstance(
    purgers=(),
    operations=1,
    cancellers=("canceller",),
    forcers=("forcer",),
    features=frozenset({"time-outs", "stops-inserting"}),
    programs=True,
    ordered=True,
)
ONE_KEY = replace(ONE, keys=("k1",))
PURGED = replace(ONE_KEY, purgers=("purger",))
TWO_CALLERS = replace(ONE_KEY, callers=("caller 1", "caller 2"), max_calls=2)
LOOKS_AGAIN = replace(
    ONE_KEY,
    demanding=frozenset({1}),
    max_events=2,
    features=frozenset({"walk-looks-again", "cancel-by-entry"}),
)
NOBODY: Programs = {"completer": (), "canceller": (), "forcer": ()}

BOTH = (Watch("1", ("k1", "k2"), 1),)
K1 = (Watch("1", ("k1",), 1),)
TWICE = (Watch("1", ("k1", "k1"), 1),)


def checked(instance: ExactInstance, programs: Programs) -> ExplainedRuns:
    """Check whether every history is explained for operation 1, whatever timer and executor do."""
    runs = Programmed(ConcurrentExact(instance), {**NOBODY, **programs})
    return check_runs(runs, _of_operation_1(OverlappingCalls("1", arms_first=True), instance))


def _of_operation_1(
    rules: Rules[Rule], instance: ExactInstance
) -> Projected[frozenset[SearchState[Rule]]]:
    return Projected(Projection("1", frozenset(instance.keys)), Explainer(rules))


@pytest.mark.parametrize(
    ("instance", "programs"),
    [
        pytest.param(
            ONE,
            {"caller": BOTH, "canceller": (CancelForKey("k1"), CancelForKey("k2"))},
            id="both keys are cancelled",
        ),
        pytest.param(
            ONE,
            {"caller": BOTH, "canceller": (CancelForKey("k1"),), "forcer": (Force("1"),)},
            id="a key is cancelled, and forced",
        ),
        pytest.param(
            ONE_KEY,
            {"caller": K1, "completer": (Check("k1"),), "forcer": (Force("1"),)},
            id="checked, and forced",
        ),
        pytest.param(
            LOOKS_AGAIN,
            {
                "caller": K1,
                "completer": (Check("k1"),),
                "canceller": (CancelForKey("k1"),),
                "forcer": (Force("1"),),
            },
            id="tried in vain, forced, looked at again",
        ),
    ],
)
def test_every_history_is_explained_for_the_operation(
    instance: ExactInstance, programs: Programs
) -> None:
    """Each call takes effect in the parts that the rules give it, and some run comes to its end."""
    found = checked(instance, programs)
    assert found.unexplained is None
    assert found.over > 0


@pytest.mark.large
@pytest.mark.parametrize(
    ("instance", "programs"),
    [
        pytest.param(
            PURGED,
            {"caller": K1, "completer": (Check("k1"),), "canceller": (CancelForKey("k1"),)},
            id="checked, cancelled, and purged",
        ),
        pytest.param(
            replace(ONE, purgers=("purger",)),
            {"caller": BOTH, "completer": (Check("k1"),)},
            id="checked under one of two keys, and purged",
        ),
        pytest.param(
            ONE,
            {
                "caller": BOTH,
                "completer": (Check("k1"),),
                "canceller": (CancelForKey("k2"),),
                "forcer": (Force("1"),),
            },
            id="everything at once",
        ),
        pytest.param(
            TWO_CALLERS,
            {"caller 1": K1, "caller 2": K1, "canceller": (CancelForKey("k1"),)},
            id="watched twice, and cancelled",
        ),
        pytest.param(
            TWO_CALLERS,
            {"caller 1": K1, "caller 2": K1, "completer": (Check("k1"),)},
            id="watched twice, and checked",
        ),
        pytest.param(
            replace(ONE_KEY, duplicates=2),
            {"caller": TWICE, "completer": (Check("k1"),), "canceller": (CancelForKey("k1"),)},
            id="the same key twice",
        ),
    ],
)
def test_every_history_of_larger_programs_is_explained_for_the_operation(
    instance: ExactInstance, programs: Programs
) -> None:
    """Given more calls that overlap, when every run is followed, each is explained."""
    assert checked(instance, programs).unexplained is None


@pytest.mark.parametrize("name", ["1", "2"])
def test_of_two_operations_each_is_explained_by_itself(name: str) -> None:
    instance = replace(
        ONE_KEY, operations=2, callers=("c1", "c2"), demanding=frozenset({2}), max_events=2
    )
    programs: Programs = {
        "c1": K1,
        "c2": (Watch("2", ("k1",), 1),),
        "completer": (Check("k1"), Check("k1")),
    }
    runs = Programmed(ConcurrentExact(instance), {**NOBODY, **programs}, background=frozenset())
    monitor = Projected(
        Projection(name, frozenset({"k1"})), Explainer(OverlappingCalls(name, arms_first=True))
    )
    assert check_runs(runs, monitor).unexplained is None


@pytest.mark.parametrize(
    "programs",
    [
        pytest.param(
            {"caller": BOTH, "canceller": (CancelForKey("k1"), CancelForKey("k2"))},
            id="between two lists",
        ),
        pytest.param({"caller": BOTH, "forcer": (Force("1"),)}, id="between word and timer"),
        pytest.param({"caller": BOTH, "completer": (Check("k1"),)}, id="between two tries"),
    ],
)
def test_calls_as_one_effect_each_do_not_explain_every_history(programs: Programs) -> None:
    """There is one that they do not explain: something happens in the middle of a call."""
    runs = Programmed(ConcurrentExact(ONE), {**NOBODY, **programs})
    found = check_runs(runs, _of_operation_1(WholeCalls("1"), ONE))
    assert found.unexplained is not None
    calls = [event for event in found.unexplained.history if isinstance(event, Called)]
    returns = [event for event in found.unexplained.history if isinstance(event, Returned)]
    assert len(calls) > len(returns) > 0


@pytest.mark.parametrize("variant", ["no-second-try", "test-then-set", "winner-stays-in-timer"])
def test_a_fault_leaves_a_history_that_nothing_explains(variant: str) -> None:
    """Given a concurrent model with a fault: there is one that the rules do not explain."""
    instance = replace(ONE_KEY, variants=frozenset({variant}))
    assert checked(instance, {"caller": K1, "completer": (Check("k1"),)}).unexplained is not None


@dataclass(frozen=True)
class From:
    """The concurrent model, from a state on."""

    model: ConcurrentExact
    first: ExactState

    def initial(self) -> ExactState:
        """The given state."""
        return self.first

    def steps(self, state: ExactState) -> Iterator[tuple[Step, ExactState]]:
        """The model's steps."""
        return self.model.steps(state)

    def history(
        self, before: ExactState, step: Step, after: ExactState
    ) -> tuple[HistoryEvent, ...]:
        """The model's history."""
        return self.model.history(before, step, after)


@dataclass(frozen=True)
class RulesFrom:
    """The sequential purgatory, from a state on."""

    model: PurgatoryModel
    first: PurgatoryState

    def initial(self) -> PurgatoryState:
        """The given state."""
        return self.first

    def effects(
        self, state: PurgatoryState, operation: Operation, part: Part
    ) -> Iterable[Effect[PurgatoryState]]:
        """The model's effects."""
        return sequential(self.model).effects(state, operation, part)


def test_a_check_of_two_operations_is_not_one_effect() -> None:
    """A history is possible that no order of whole calls explains, and each operation's is."""
    instance = replace(ONE_KEY, operations=2)
    pairs = Pairs(instance)
    watches = [pairs.watch(1), pairs.watch(2)]
    pair = pairs.initial()
    for watch in watches:
        ((_, pair),) = pairs.after(pair, watch)
    programs: Programs = {
        "caller": (),
        "completer": (Check("k1"),),
        "canceller": (),
        "forcer": (Force("1"), Force("2")),
    }
    runs = Programmed(
        From(ExactAlone(instance).model, pair.concurrent), programs, background=frozenset()
    )
    rules = RulesFrom(pairs.sequential, pair.sequential)
    unexplained = [each for each in histories(runs) if not explain(each, rules).is_complete]
    results = {tuple(e.result for e in each if isinstance(e, Returned)) for each in unexplained}
    assert (False, True, 1) in set(map(_told, results))
    assert check_runs(runs, Explainer(rules)).unexplained is not None


def _told(results: tuple[Value, ...]) -> tuple[Value, ...]:
    """The results without those of calls that have none."""
    return tuple(result for result in results if result is not None)
