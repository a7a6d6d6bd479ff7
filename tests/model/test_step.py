"""The two faces of a model agree: accept takes exactly what successors gives."""

from itertools import islice
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_conformance.generation.source import HypothesisSource
from purgatory_conformance.generation.timer.table import draw_configuration, draw_operations
from purgatory_model.step import in_groups, observables_match, orders
from purgatory_model.timer import TimerModel, timer_model, timing_wheel_model
from purgatory_spec.operations import Add, Advance, Operation, RunOne
from purgatory_spec.outcomes import Outcome, expired, ran
from purgatory_spec.profiles import (
    Executor,
    Feature,
    Observable,
    SameTickOrder,
    Structure,
    TimerConfiguration,
    TimerProfile,
)

from .faces import MOST, agree

FEATURES = frozenset(Feature) - {Feature.INT64}


def profile(structure: Structure, order: SameTickOrder = SameTickOrder.NONE) -> TimerProfile:
    return TimerProfile(
        same_tick_order=order,
        executor=Executor.STEPPED,
        structure=structure,
        features=FEATURES,
        observables=frozenset(Observable),
    )


def model_of(declared: TimerProfile, configuration: TimerConfiguration) -> TimerModel[Any]:
    if declared.structure is Structure.DELAY_QUEUE_WHEEL:
        return timing_wheel_model(configuration, declared)
    return timer_model(configuration, declared)


@st.composite
def cases(draw: st.DrawFn) -> tuple[TimerProfile, TimerConfiguration, tuple[Operation, ...]]:
    declared = profile(draw(st.sampled_from(Structure)), draw(st.sampled_from(SameTickOrder)))
    source = HypothesisSource(draw)
    configuration = draw_configuration(declared, source, frozenset())
    return declared, configuration, draw_operations(configuration, declared, source, most=14)


@given(cases())
@settings(max_examples=120)
def test_accept_and_successors_are_one_relation(
    case: tuple[TimerProfile, TimerConfiguration, tuple[Operation, ...]],
) -> None:
    """Accept gives, for each of them and for outcomes near it, the states enumerated with it."""
    declared, configuration, operations = case
    model = model_of(declared, configuration)
    state = model.initial()
    for operation in operations:
        pairs = list(islice(model.successors(state, operation), MOST))
        assert agree(model, state, operation, pairs)
        state = pairs[-1][1]


def test_control_a_face_that_forgets_a_state_is_noticed() -> None:
    """Given two tasks in one tick: the faces no longer agree."""
    model = timing_wheel_model(TimerConfiguration(), profile(Structure.DELAY_QUEUE_WHEEL))
    state = model.initial()
    for task in ("a", "b"):
        ((_, state),) = model.successors(state, Add(task, 1))
    pairs = list(model.successors(state, Advance(1)))
    assert len(pairs) == 2
    assert agree(model, state, Advance(1), pairs)
    ((outcome, _), other) = pairs
    assert not agree(model, state, Advance(1), [(outcome, state), other])
    reversed_events = msgspec.structs.replace(outcome, events=outcome.events[::-1])
    assert other[0] == reversed_events
    assert not agree(model, state, Advance(1), [pairs[0]])


def test_groups_are_matched_as_sets_in_sequence() -> None:
    """The order inside a group is free and the order of groups is not."""
    groups = (frozenset({expired("a"), expired("b")}), frozenset({ran("c")}))
    assert in_groups((expired("b"), expired("a"), ran("c")), groups)
    assert not in_groups((expired("a"), ran("c"), expired("b")), groups)
    assert not in_groups((expired("a"), expired("a"), ran("c")), groups)
    assert not in_groups((expired("a"), expired("b")), groups)
    assert list(orders(groups)) == [
        (expired("a"), expired("b"), ran("c")),
        (expired("b"), expired("a"), ran("c")),
    ]


def test_observables_are_compared_by_value_and_type() -> None:
    """Given an expected observable: it does not match."""
    assert observables_match({"size": 1}, {"size": 1, "other": 2})
    assert not observables_match({"size": 1}, {"size": True})
    assert not observables_match({"size": 1}, {})
    assert not observables_match({"next": None}, {"next": 0})


def test_many_tasks_in_one_tick_are_not_enumerated_by_accept() -> None:
    """Accept gives the one state that it leads to."""
    model = timing_wheel_model(TimerConfiguration(), profile(Structure.DELAY_QUEUE_WHEEL))
    state = model.initial()
    names = [f"t{number}" for number in range(60)]
    for task in names:
        ((_, state),) = model.successors(state, Add(task, 1))
    first, _ = next(model.successors(state, Advance(1)))
    assert first.events == tuple(expired(task) for task in sorted(names))
    events = tuple(expired(task) for task in reversed(names))
    observed = {
        "size": 0,
        "queued": 60,
        "wheel_clock_ms": 1,
        "queued_buckets": 0,
        "next_expiry_ms": None,
        "levels": 1,
    }
    (after,) = model.accept(state, Advance(1), Outcome(True, None, events, observed))
    assert after.queue == tuple(reversed(names))
    assert model.accept(after, RunOne(), Outcome(events=(ran("t0"),))) == frozenset()
