"""Calls that nothing interrupts: the concurrent purgatory is then the sequential one."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purgatory_model.claims.purgatory_variants import purgatory_variant_model
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import Defect, Feature, ProposalInstance
from purgatory_model.purgatory import PurgatoryModel, PurgatoryState
from purgatory_spec import profiles
from purgatory_spec.operations import Advance, CancelForKey, Check, Operation, RunOne, Watch
from purgatory_spec.outcomes import Event, Outcome, Value

from .proposal_calls import Moment, WholeCalls

pytestmark = pytest.mark.recorded

KEYS = ("k1", "k2")
KINDS = ("watch", "check", "event", "cancel", "advance", "run")
Shown = tuple[Value, tuple[Event, ...], frozenset[tuple[str, Value]]]


@dataclass(frozen=True)
class Asked:
    """A call, or an event on a key, which is followed by a check of it."""

    call: Operation
    event: bool = False


@dataclass(frozen=True)
class Pair:
    """The same purgatory in both models."""

    concurrent: Moment
    sequential: PurgatoryState


class Different(AssertionError):
    """The models do not say the same of a call."""


@dataclass(frozen=True)
class BothModels:
    calls: WholeCalls
    model: PurgatoryModel

    def initial(self) -> Pair:
        return Pair(self.calls.initial(), self.model.initial())

    def after(self, pair: Pair, asked: Asked) -> tuple[Pair, ...]:
        """Return the pairs after a call in both models, which have to do the same."""
        if asked.event:
            assert isinstance(asked.call, Check)
            pair = self._raised(pair, asked.call.key)
        concurrent = {
            shown(outcome): after
            for outcome, after in self.calls.outcomes(pair.concurrent, asked.call)
        }
        sequential = {
            shown(outcome): after
            for outcome, after in self.model.successors(pair.sequential, asked.call)
        }
        if concurrent.keys() != sequential.keys():
            raise Different(f"{asked}: {set(concurrent)} and {set(sequential)} after {pair}")
        return tuple(Pair(after, sequential[each]) for each, after in concurrent.items())

    def _raised(self, pair: Pair, key: str) -> Pair:
        satisfied, concurrent = self.calls.event(pair.concurrent, key)
        sequential = pair.sequential
        for each in satisfied:
            ((_, sequential),) = self.model.successors(sequential, each)
        return Pair(concurrent, sequential)


def shown(outcome: Outcome) -> Shown:
    assert outcome.rejected is None
    return outcome.result, outcome.events, frozenset(outcome.observed.items())


def both(
    *features: Feature,
    thresholds: tuple[int, ...] = (1, 2),
    purge_interval: int = 0,
    keys: tuple[str, ...] = KEYS,
    defects: frozenset[Defect] = frozenset(),
) -> BothModels:
    instance = ProposalInstance(
        keys=keys,
        thresholds=thresholds,
        purge_interval=purge_interval,
        features=frozenset(features),
        defects=defects,
        ordered=True,
        programs=True,
        most_events=1,
    )
    profile = profiles.PurgatoryProfile(
        check_drops=profiles.CheckDrops.AS_PASSED,
        accounting=profiles.Accounting.PROPOSAL,
        executor=profiles.Executor.STEPPED,
        observables=frozenset(profiles.PurgatoryObservable)
        - {profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE},
    )
    # Cancelling for a key takes every time-out there, as in the concurrent model.
    variants = frozenset({"time_out_taken_with_key"})
    model = purgatory_variant_model(
        profiles.PurgatoryConfiguration(purge_interval), profile, variants
    )
    return BothModels(WholeCalls(ConcurrentProposal(instance)), model)


def possible(models: BothModels, pair: Pair) -> Iterator[Asked]:
    """Everything that may be asked in a small instance, up to the clock's reading 2."""
    instance = models.calls.model.instance
    state, now_ms = pair.concurrent.state, pair.concurrent.now_ms
    if state.begun < len(instance.thresholds):
        # The first operation may be due after the second.
        yield Asked(Watch(str(state.begun + 1), instance.keys, 2 - state.begun))
    for key in instance.keys:
        yield Asked(Check(key))
        if state.events[key] < instance.most_events:
            yield Asked(Check(key), event=True)
        if Feature.CANCEL_FOR_KEY in instance.features:
            yield Asked(CancelForKey(key))
    yield from (Asked(Advance(to_ms)) for to_ms in (now_ms, now_ms + 1) if to_ms <= 2)
    yield Asked(RunOne())


def explored(models: BothModels) -> int:
    """Ask everything of every pair of states that can be reached; how many pairs there are."""
    met = {models.initial()}
    fresh = list(met)
    while fresh:
        pair = fresh.pop()
        for asked in possible(models, pair):
            for after in models.after(pair, asked):
                if after not in met:
                    met.add(after)
                    fresh.append(after)
    return len(met)


INSTANCES = {
    "two operations, two keys": both(),
    "purge interval one": both(purge_interval=1),
    "with cancel_for_key": both(Feature.CANCEL_FOR_KEY, thresholds=(1,)),
    "all keys": both(Feature.ALL_KEYS, thresholds=(1, 1)),
}


@pytest.mark.parametrize("models", INSTANCES.values(), ids=INSTANCES)
def test_the_sequential_model_is_the_concurrent_one_without_interleaving(
    models: BothModels,
) -> None:
    """Results, events and all counts are the same, in every order that the rules leave open."""
    assert explored(models) > 100


def of_four(*features: Feature) -> BothModels:
    return both(*features, thresholds=(1, 2, 1, 2), purge_interval=1)


@st.composite
def programs(draw: st.DrawFn) -> tuple[Asked, ...]:
    """Calls of every kind, by their order only: numbers and readings follow from it."""
    asked: list[Asked] = []
    begun = now_ms = 0
    for kind in draw(st.lists(st.sampled_from(KINDS))):
        key = draw(st.sampled_from(KEYS))
        if kind == "watch" and begun < 4:
            begun += 1
            asked.append(Asked(Watch(str(begun), KEYS, draw(st.integers(1, 4)))))
        elif kind == "advance":
            now_ms += draw(st.integers(0, 3))
            asked.append(Asked(Advance(now_ms)))
        elif kind == "run":
            asked.append(Asked(RunOne()))
        elif kind == "cancel":
            asked.append(Asked(CancelForKey(key)))
        else:
            asked.append(Asked(Check(key), event=kind == "event"))
    return tuple(asked)


@given(programs(), st.data())
def test_longer_programs_of_four_operations(
    program: tuple[Asked, ...], data: st.DataObject
) -> None:
    """Given calls one after the other, of up to four operations: they say the same of each."""
    models = of_four(Feature.CANCEL_FOR_KEY)
    pair = models.initial()
    for asked in program:
        pair = data.draw(st.sampled_from(models.after(pair, asked)))


@pytest.mark.parametrize(
    "defect",
    [Defect.NO_SECOND_TRY, Defect.SWEEP_TAKES_ALL, Defect.EXPIRES_ANYWAY],
)
def test_a_fault_of_the_concurrent_model_is_seen(defect: Defect) -> None:
    """Some call is different."""
    with pytest.raises(Different):
        explored(both(defects=frozenset({defect})))


@pytest.mark.parametrize("defect", [Defect.NO_SECOND_LOOK, Defect.TEST_THEN_SET])
def test_a_fault_that_only_shows_between_two_calls_is_not(defect: Defect) -> None:
    """Nothing is different."""
    assert explored(both(defects=frozenset({defect}))) > 300


def test_calls_need_an_instance_for_programs() -> None:
    with pytest.raises(ValueError, match="need an instance with 'programs' and 'ordered'"):
        WholeCalls(ConcurrentProposal(ProposalInstance()))


def test_operations_are_handed_in_by_their_numbers() -> None:
    calls = both().calls
    with pytest.raises(ValueError, match="does not have Watch"):
        list(calls.outcomes(calls.initial(), Watch("2", KEYS, 1)))
