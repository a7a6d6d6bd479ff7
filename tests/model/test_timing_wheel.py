"""The wheel refines the timer and keeps its invariants: exhaustively small, randomly large."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.source import HypothesisSource
from purgatory_conformance.generation.timer.table import draw_configuration, draw_operations
from purgatory_model.claims.explorer import explore
from purgatory_model.claims.timer import FALSE_CLAIMS, TRUE_CLAIMS, Instance, WheelState, breaks
from purgatory_model.replacing import replace
from purgatory_model.timer import timer_model, timing_wheel_model
from purgatory_model.timing_wheel import as_timer, broken_invariants
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.requirements import requirements

SMALL = Instance(delays_ms=(0, 1, 3, 5), last_ms=5)
SHORTER = Instance(delays_ms=(0, 1, 3, 5), last_ms=3)


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[profiles.TimerProfile, profiles.TimerConfiguration, tuple[Operation, ...]]:
    profile = profiles.TimerProfile(
        rounding=draw(st.sampled_from((profiles.Rounding.DOWN, profiles.Rounding.UP))),
        same_tick_order=draw(st.sampled_from(profiles.SameTickOrder)),
        negative_delay=draw(st.sampled_from(profiles.NegativeDelay)),
        executor=profiles.Executor.STEPPED,
        structure=profiles.Structure.DELAY_QUEUE_WHEEL,
        features=frozenset(profiles.Feature) - {profiles.Feature.INT64, profiles.Feature.REFUSE},
        observables=frozenset(profiles.Observable),
    )
    source = HypothesisSource(draw)
    configuration = draw_configuration(profile, source, frozenset())
    return profile, configuration, draw_operations(configuration, profile, source, most=25)


@given(cases())
@settings(max_examples=150)
def test_every_step_of_the_wheel_is_a_step_of_the_timer(
    case: tuple[profiles.TimerProfile, profiles.TimerConfiguration, tuple[Operation, ...]],
) -> None:
    """The timer accepts each step between them, and every invariant holds in each state."""
    profile, configuration, operations = case
    wheel = timing_wheel_model(configuration, profile)
    timer = timer_model(configuration, profile)
    state = wheel.initial()
    for operation in operations:
        outcome, after = next(iter(wheel.successors(state, operation)))
        assert as_timer(after) in timer.accept(as_timer(state), operation, outcome)
        assert list(broken_invariants(after)) == []
        state = after


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance", "states", "depth"),
    [
        pytest.param(SHORTER, 3733, 11, id="until 3 ms"),
        pytest.param(SMALL, 12205, 17, id="until 5 ms", marks=pytest.mark.large),
    ],
)
@pytest.mark.parametrize("claim", TRUE_CLAIMS)
def test_claim_holds_in_every_state_of_a_small_instance(
    claim: str, instance: Instance, states: int, depth: int
) -> None:
    found = explore(instance.model().initial(), instance.steps, breaks(instance, claim))
    assert found.complete
    assert found.counterexample is None
    assert (found.states, found.depth) == (states, depth)


@pytest.mark.parametrize("claim", FALSE_CLAIMS)
def test_counterexample_of_a_false_claim_is_found(claim: str) -> None:
    """There is a shortest path to a step that breaks the claim, and it can be followed."""
    found = explore(SMALL.model().initial(), SMALL.steps, breaks(SMALL, claim))
    assert found.counterexample is not None
    state = found.counterexample.initial
    for (operation, outcome), after in found.counterexample.path:
        assert after in SMALL.model().accept(state, operation, outcome)
        state = after


def test_explorer_stops_at_its_limit() -> None:
    """Given a limit of ten states: the exploration says that it is not complete."""
    initial = SMALL.model().initial()
    found = explore(initial, SMALL.steps, breaks(SMALL, "invariants"), limit=10)
    assert (found.states, found.complete, found.counterexample) == (10, False, None)


def wheel_with_a_task() -> WheelState:
    model = SMALL.model()
    ((_, state),) = model.successors(model.initial(), Add("a", 3))
    return state


def spoiled_states() -> dict[str, WheelState]:
    """For each invariant a state that breaks it."""
    state = wheel_with_a_task()
    wheel = state.store
    place = wheel.places["a"]
    return {
        "TIMER-OWN-CLOCK": replace(state, store=replace(wheel, own_clock_ms=1)),
        "TIMER-NOT-LATE": replace(state, now_ms=9, store=replace(wheel, own_clock_ms=4)),
        "TIMER-DELAY-QUEUE-BOUND": replace(
            state,
            store=replace(wheel, levels=0),
        ),
        "TIMER-SPAN": replace(
            state,
            store=replace(
                wheel, buckets=wheel.buckets.set((64, 1), frozenset()), levels=wheel.levels
            ),
        ),
        "TIMER-BUCKET-REUSE": replace(
            state, store=replace(wheel, buckets=wheel.buckets.set((place[0] + 4, 2), frozenset()))
        ),
        "TIMER-EXACTLY-ONCE": replace(
            state, store=replace(wheel, buckets=wheel.buckets.set(place, frozenset()))
        ),
        "TIMER-CASCADE": replace(
            state, store=replace(wheel, due_ticks=wheel.due_ticks.set("a", 1))
        ),
    }


@pytest.mark.parametrize("rule", spoiled_states())
def test_each_invariant_can_fail(rule: str) -> None:
    """The one that it breaks is named, and it is the id of a rule."""
    assert rule in set(broken_invariants(spoiled_states()[rule]))
    assert rule in {requirement.id for requirement in requirements(profiles.Component.TIMER)}


def test_cascade_of_a_cancelled_bucket_through_three_levels() -> None:
    model = timing_wheel_model(profiles.TimerConfiguration(1, 2), SMALL.profile)
    state = model.initial()
    trail = []
    for operation in (Add("a", 7), Advance(4), Cancel("a"), Advance(6), Advance(7)):
        ((outcome, state),) = model.successors(state, operation)
        trail.append((outcome.result, outcome.events, dict(outcome.observed)["queued_buckets"]))
    assert trail == [(None, (), 1), (True, (), 1), (None, (), 1), (True, (), 0), (False, (), 0)]
