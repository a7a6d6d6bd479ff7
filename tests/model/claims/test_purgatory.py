"""The purgatory keeps its invariants and its bounds: exhaustively small, randomly larger."""

# What is not true of the published accounting has a test that must find why not.

import dataclasses
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from purgatory_model.claims.explorer import Exploration, explore
from purgatory_model.claims.purgatory import (
    EXACT,
    FALSE_CLAIMS,
    INLINE,
    INVARIANTS,
    STEPPED,
    TRUE_CLAIMS,
    PurgatoryInstance,
    PurgatoryStep,
    breaks,
    broken_invariants,
    distinct_is_estimated,
    estimate_covers_stale,
    stale_entries_bounded,
    stale_operations_bounded,
)
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.purgatory import OperationState, purgatory_model
from purgatory_model.replacing import replace
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.profiles import Accounting, Executor, PurgatoryConfiguration, PurgeDue
from purgatory_spec.requirements import requirement

from ..purgatory_strategies import Asked, Model, State, cases, configurations, profiles

pytestmark = pytest.mark.recorded

SIZES = {
    STEPPED: (2555, 15003, 9),
    INLINE: (867, 4659, 9),
    EXACT: (1755, 10901, 9),
}
"""States, edges and depth of each instance."""

LENGTHS = {
    "mass-expiry-estimate": 3,
    "mass-expiry-distinct": 3,
    "mass-expiry-stale-operations": 4,
    "timer-size-is-pending": 2,
    "proposal-stale-entries": 2,
    "no-time-outs-estimate": 3,
    "no-time-outs-stale-operations": 4,
    "kafka-cancel-live": 2,
    "kafka-cancel-estimate": 4,
    "kafka-cancel-stale-operations": 5,
    "kafka-throw-live": 1,
    "kafka-throw-estimate": 3,
}
MANY = settings(max_examples=60)


def walked(case: Asked, data: st.DataObject) -> Iterator[tuple[Model, State, Operation, State]]:
    """The steps of one way through a case."""
    profile, configuration, asked = case
    model = purgatory_model(configuration, profile)
    state = model.initial()
    for operation in asked:
        outcomes = list(islice(model.successors(state, operation), 300))
        _, after = data.draw(st.sampled_from(outcomes))
        yield model, state, operation, after
        state = after


@pytest.mark.slow
@given(cases(most=16), st.data())
@MANY
def test_invariants_hold_wherever_one_goes(case: Asked, data: st.DataObject) -> None:
    """Given any purgatory with any scripts: every invariant holds in every state."""
    for model, _, _, after in walked(case, data):
        assert list(broken_invariants(model, after)) == []


@pytest.mark.slow
@given(cases(profiles([Accounting.EXACT]), most=16), st.data())
@MANY
def test_exact_accounting_bounds_what_is_stale(case: Asked, data: st.DataObject) -> None:
    """At most the interval's number of entries is stale, and of operations when quiet."""
    for model, before, operation, after in walked(case, data):
        if isinstance(operation, Advance):
            assert stale_entries_bounded(model, before, after)
            assert stale_operations_bounded(model, before, after)
        if model.configuration.time_outs and not after.closed:
            assert len(after.live) <= after.pending <= model.estimate(after)


INLINE_PROPOSAL = profiles([Accounting.PROPOSAL], [Executor.INLINE])


@pytest.mark.slow
@given(cases(INLINE_PROPOSAL, configurations(time_outs=True), most=16), st.data())
@MANY
def test_proposal_bounds_what_is_stale_under_its_provisos(case: Asked, data: st.DataObject) -> None:
    """The estimate's law holds in every state, and the bound on operations after each advance."""
    for model, before, operation, after in walked(case, data):
        assert estimate_covers_stale(model.configuration, after)
        assert distinct_is_estimated(model.configuration, after)
        if isinstance(operation, Advance):
            assert stale_operations_bounded(model, before, after)


@pytest.mark.slow
@pytest.mark.parametrize("instance", TRUE_CLAIMS, ids=["stepped", "inline", "exact"])
def test_claims_hold_in_every_state_of_a_small_instance(instance: PurgatoryInstance) -> None:
    """The claims hold in all of them, and something can always be done."""
    checks = [breaks(instance, claim) for claim in TRUE_CLAIMS[instance]]

    def broken(before: State, step: PurgatoryStep, after: State) -> str | None:
        return next((claim for check in checks if (claim := check(before, step, after))), None)

    found = explore(instance.model().initial(), instance.steps, broken)
    assert found == Exploration(*SIZES[instance], deadlocks=0, complete=True)


@pytest.mark.slow
def test_amortised_purges_bound_what_is_stale_by_half_of_what_lives() -> None:
    """The claims of the exact accounting hold in all of them, by the larger interval."""
    amortised = dataclasses.replace(EXACT, purge_due=PurgeDue.AMORTISED)
    checks = [breaks(amortised, claim) for claim in TRUE_CLAIMS[EXACT]]

    def broken(before: State, step: PurgatoryStep, after: State) -> str | None:
        return next((claim for check in checks if (claim := check(before, step, after))), None)

    found = explore(amortised.model().initial(), amortised.steps, broken)
    assert (found.counterexample, found.complete) == (None, True)
    beyond = breaks(EXACT, "stale-entries-bounded")
    assert explore(amortised.model().initial(), amortised.steps, beyond).counterexample is not None


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_counterexample_of_a_false_claim_is_found(name: str) -> None:
    """There is a shortest path to a step that breaks the claim, and it can be followed."""
    instance, claim = FALSE_CLAIMS[name]
    found = explore(instance.model().initial(), instance.steps, breaks(instance, claim))
    assert found.counterexample is not None
    assert len(found.counterexample.path) == LENGTHS[name]
    state = found.counterexample.initial
    for (operation, outcome), after in found.counterexample.path:
        assert after in instance.model().accept(state, operation, outcome)
        state = after


@pytest.mark.slow
@pytest.mark.parametrize("interval", [0, 1])
def test_larger_interval_needs_more_operations_to_be_passed(interval: int) -> None:
    """It takes interval + 1 operations that expire together."""
    instance = PurgatoryInstance(purge_interval=interval, watched=Map({"a": ("k",), "b": ("k",)}))
    found = explore(
        instance.model().initial(), instance.steps, breaks(instance, "stale-operations-bounded")
    )
    assert found.counterexample is not None
    last = found.counterexample.path[-1][1]
    assert len(last.stale_operations) == interval + 1
    assert last.estimate == last.timer_size == 0


def spoiled_states() -> dict[str, tuple[PurgatoryConfiguration, State]]:
    """For each invariant a state that breaks it."""
    timed, timeless = PurgatoryConfiguration(), PurgatoryConfiguration(time_outs=False)
    state = STEPPED.model().initial()
    waiting = replace(
        state,
        operations=Map({"a": OperationState(1)}),
        lists=Map({"k": ("a",)}),
    )
    armed = replace(state.timer, store=PendingTasks(Map({"a": 1})))
    return {
        "lists-are-not-empty": (timed, replace(state, lists=Map({"k": ()}))),
        "live-is-owed": (timed, waiting),
        "timer-is-live": (timed, replace(state, timer=armed, estimate=1)),
        "nothing-is-armed": (timeless, replace(waiting, timer=armed, estimate=1)),
        "pending-covers-live": (timed, waiting),
        "estimate-covers-timer": (timed, replace(waiting, timer=armed)),
    }


@pytest.mark.parametrize("name", INVARIANTS)
def test_each_invariant_can_fail(name: str) -> None:
    """The one that it breaks is named, and it belongs to a rule."""
    configuration, state = spoiled_states()[name]
    model = dataclasses.replace(STEPPED.model(), configuration=configuration)
    assert name in set(broken_invariants(model, state))
    assert requirement(INVARIANTS[name].rule).id == INVARIANTS[name].rule


def test_bounds_ask_only_of_the_advances_that_they_speak_of() -> None:
    """The bound on operations is not broken, and that on entries only before shutdown."""
    model = STEPPED.model()
    assert model.configuration.purge_interval == 0
    state = replace(
        model.initial(),
        operations=Map({"a": OperationState(1, completed=True)}),
        lists=Map({"k": ("a",)}),
    )
    queued = replace(state, timer=replace(state.timer, queue=("a",)))
    closed = replace(state, closed=True)
    assert not stale_operations_bounded(model, state, state)
    assert stale_operations_bounded(model, queued, state)
    assert stale_operations_bounded(model, state, queued)
    assert stale_operations_bounded(model, closed, closed)
    assert not stale_entries_bounded(model, queued, queued)
    assert stale_entries_bounded(model, closed, closed)
