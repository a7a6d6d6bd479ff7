"""The two faces of the purgatory's model agree, and every trace of it keeps the order of calls."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_model.claims.purgatory_variants import VARIANTS, purgatory_variant_model
from purgatory_model.purgatory import purgatory_model
from purgatory_spec.operations import Answer, Check, Script, Watch, WatchInside
from purgatory_spec.outcomes import EventKind, tried
from purgatory_spec.profiles import Executor, PurgatoryConfiguration, PurgatoryProfile, Structure

from .faces import MOST, agree
from .purgatory_strategies import Asked, State, cases


@pytest.mark.slow
@given(cases(), st.data())
@settings(max_examples=60)
def test_accept_and_successors_are_one_relation(case: Asked, data: st.DataObject) -> None:
    """Accept gives, for each of them and for outcomes near it, the states enumerated with it."""
    profile, configuration, asked = case
    names = data.draw(st.frozensets(st.sampled_from(sorted(VARIANTS)), max_size=2))
    model = purgatory_variant_model(configuration, profile, names)
    state = model.initial()
    for operation in asked:
        pairs = list(islice(model.successors(state, operation), MOST))
        assert agree(model, state, operation, pairs)
        state = data.draw(st.sampled_from([after for _, after in pairs]))


@pytest.mark.slow
@given(cases(most=16), st.data())
@settings(max_examples=60)
def test_callbacks_come_once_and_in_order(case: Asked, data: st.DataObject) -> None:
    """on_complete comes once at most, on_expiration only after it and in the same step."""
    profile, configuration, asked = case
    model = purgatory_model(configuration, profile)
    state = model.initial()
    calls: Counter[tuple[EventKind, str]] = Counter()
    for operation in asked:
        completed_before = state.completed
        pairs = list(islice(model.successors(state, operation), MOST))
        outcome, state = data.draw(st.sampled_from(pairs))
        completed_now: set[str] = set()
        for event in outcome.events:
            calls[event.kind, event.task] += 1
            if event.kind is EventKind.COMPLETED:
                completed_now.add(event.task)
            if event.kind is EventKind.TIMED_OUT:
                assert event.task in completed_now
            if event.kind is EventKind.TRIED and type(operation) is Check and not _scripted(state):
                assert event.task not in completed_before | completed_now
        _assert_calls(calls, state)


def _scripted(state: State) -> bool:
    return any(
        each.script.on_complete or each.script.on_expiration for each in state.operations.values()
    )


def _assert_calls(calls: Counter[tuple[EventKind, str]], state: State) -> None:
    for name in state.operations:
        assert calls[EventKind.COMPLETED, name] == (name in state.completed)
        assert calls[EventKind.TIMED_OUT, name] <= calls[EventKind.COMPLETED, name]


def test_only_what_agrees_with_the_events_seen_is_followed() -> None:
    """The model follows a few that agree with it, or that come near."""
    profile = PurgatoryProfile(executor=Executor.STEPPED, structure=Structure.DELAY_QUEUE_WHEEL)
    model = purgatory_model(PurgatoryConfiguration(), profile)
    state = model.initial()
    for name in ("a", "b"):
        inside = (WatchInside(f"{name}1", ("k",), 0), WatchInside(f"{name}2", ("k", "j"), 0))
        script = Script((Answer.WAIT, Answer.WAIT, Answer.COMPLETE), inside)
        ((_, state),) = model.successors(state, Watch(name, ("k",), 9, script))
    pairs = list(model.successors(state, Check("k")))
    assert len(pairs) == 256
    for outcome, after in (pairs[0], pairs[100], pairs[-1]):
        assert 1 <= len(model.expectations(state, Check("k"), outcome.events)) <= 16
        assert model.accept(state, Check("k"), outcome) == {after}
    assert 1 <= len(model.expectations(state, Check("k"), (tried("zz"),))) <= 16
