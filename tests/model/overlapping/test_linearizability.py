"""Histories that sequential rules explain, and some that they do not."""

from collections import Counter
from itertools import combinations, permutations
from random import Random

import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    History,
    HistoryEvent,
    Returned,
)
from purgatory_model.overlapping.linearizability import Taken, explain
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_model.timer import timer_model
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Allocate, Cancel, Elapse, Operation, Release
from purgatory_spec.outcomes import Outcome, expired
from purgatory_spec.reasons import Reason

from ..concurrent_pools import pool, programmed, sequential_pool

ONE_BYTE = MemoryPoolModel(profiles.MemoryPoolConfiguration(1, 1), profiles.MemoryPoolProfile())
TWO_BYTES = MemoryPoolModel(profiles.MemoryPoolConfiguration(2, 1), profiles.MemoryPoolProfile())
STEPPED = timer_model(
    profiles.TimerConfiguration(), profiles.TimerProfile(executor=profiles.Executor.STEPPED)
)

ASKS, ASKS_TOO = Allocate("a", 1), Allocate("b", 1)


def whole(thread: str, operation: Operation, outcome: Outcome) -> History:
    """A call from its beginning to its end."""
    events = (Happened(thread, event) for event in outcome.events)
    returned = Returned(thread, outcome.result, outcome.rejected)
    return (Called(thread, operation), *events, returned)


GRANTED, REFUSED = Outcome(True), Outcome(False)
OVERLAPPING: History = (
    Called("t", ASKS),
    Called("u", ASKS_TOO),
    Returned("t", False),
    Returned("u", True),
)


def test_calls_that_overlap_may_take_effect_in_either_order() -> None:
    """The later one took effect first."""
    explanation = explain(OVERLAPPING, sequential(ONE_BYTE))
    assert explanation.is_complete
    assert explanation.order == (Taken("u", ASKS_TOO), Taken("t", ASKS))


def test_a_call_that_returned_comes_before_one_that_begins() -> None:
    history = whole("t", ASKS, REFUSED) + whole("u", ASKS_TOO, GRANTED)
    explanation = explain(history, sequential(ONE_BYTE))
    assert explanation.unexplained == history[:2]
    assert explanation.order == ()


def test_a_call_that_has_not_returned_may_have_taken_effect() -> None:
    """The first took effect, though it has not returned."""
    history = (Called("t", ASKS), *whole("u", ASKS_TOO, REFUSED))
    explanation = explain(history, sequential(ONE_BYTE))
    assert explanation.order == (Taken("t", ASKS), Taken("u", ASKS_TOO))
    granted = explain((Called("t", ASKS), *whole("u", ASKS_TOO, GRANTED)), sequential(ONE_BYTE))
    assert granted.order == (Taken("u", ASKS_TOO),)


def test_a_call_that_took_effect_for_another_must_return_so() -> None:
    """Nothing explains the history."""
    history: History = (Called("t", ASKS), *whole("u", ASKS_TOO, REFUSED), Returned("t", False))
    assert explain(history[:-1], sequential(ONE_BYTE)).is_complete
    assert explain(history, sequential(ONE_BYTE)).unexplained == history


def test_results_and_reasons_are_compared() -> None:
    """Given a request of an illegal size: only the first is explained."""
    asks = Allocate("a", 9)
    right = whole("t", asks, Outcome(rejected=Reason.INVALID_ARGUMENT))
    assert explain(right, sequential(ONE_BYTE)).is_complete
    for wrong in (REFUSED, Outcome(rejected=Reason.TOO_LARGE), Outcome(0)):
        assert not explain(whole("t", asks, wrong), sequential(ONE_BYTE)).is_complete


def test_events_belong_to_their_call() -> None:
    """Both are explained, and an event in the wrong thread, twice, or not at all is not."""
    before = whole("t", Add("a", 1), Outcome()) + whole("t", Add("b", 1), Outcome())
    one, other = Happened("t", expired("a")), Happened("t", expired("b"))

    def advanced(*events: HistoryEvent) -> History:
        between = whole("u", Add("c", 9), Outcome())
        return (*before, Called("t", Advance(1)), *events[:1], *between, *events[1:], Returned("t"))

    rules = sequential(STEPPED)
    assert explain(advanced(one, other), rules).is_complete
    assert explain(advanced(other, one), rules).is_complete
    assert not explain(advanced(one, Happened("u", expired("b"))), rules).is_complete
    assert not explain(advanced(one, other, other), rules).is_complete
    assert not explain(advanced(one), rules).is_complete


def test_events_may_be_seen_before_and_after_what_they_have_an_effect_on() -> None:
    """The advance took effect first in both, for the task was handed over."""
    before = whole("t", Add("a", 1), Outcome())
    cancelled = whole("u", Cancel("a"), Outcome())
    event = Happened("t", expired("a"))
    called, returned = Called("t", Advance(1)), Returned("t")
    for middle in ((event, *cancelled), (*cancelled, event)):
        explanation = explain((*before, called, *middle, returned), sequential(STEPPED))
        assert explanation.is_complete
        assert [taken.operation for taken in explanation.order] == [
            Add("a", 1),
            Advance(1),
            Cancel("a"),
        ]


def test_an_event_or_a_return_outside_every_call_is_not_explained() -> None:
    stray: HistoryEvent
    for stray in (Happened("t", expired("a")), Returned("t")):
        assert explain((stray,), sequential(STEPPED)).unexplained == (stray,)


def test_a_call_inside_a_call_is_no_history_of_ours() -> None:
    with pytest.raises(ValueError, match=r"thread 't' calls .* while it is inside"):
        explain((Called("t", ASKS), Called("t", ASKS_TOO)), sequential(ONE_BYTE))


def test_an_operation_of_another_component_is_told() -> None:
    with pytest.raises(ValueError, match="a memory pool has no operation advance"):
        explain((Called("t", Advance(1)), Returned("t")), sequential(ONE_BYTE))
    assert explain(whole("t", Elapse(1), Outcome()), sequential(ONE_BYTE)).is_complete


Call = tuple[int, int, Operation, Returned]
"""A call by the places of its beginning and its end in a history, with its return."""


def calls_of(history: History) -> list[Call]:
    """The calls of a complete history."""
    begun: dict[str, tuple[int, Operation]] = {}
    found: list[Call] = []
    for place, event in enumerate(history):
        if isinstance(event, Called):
            begun[event.thread] = (place, event.operation)
        elif isinstance(event, Returned):
            begin, operation = begun.pop(event.thread)
            found.append((begin, place, operation, event))
    return found


def explained_by_trying_all_orders(history: History, model: MemoryPoolModel) -> bool:
    """The definition of linearizability, word for word."""
    for order in permutations(calls_of(history)):
        if any(late[1] < early[0] for early, late in combinations(order, 2)):
            continue
        states = {model.initial()}
        for _, _, operation, returned in order:
            states = {
                after
                for state in states
                for outcome, after in model.successors(state, operation)
                if outcome.rejected is returned.raised and outcome.result == returned.result
            }
        if states:
            return True
    return False


TRUE_POOL = pool(2, 2, 3)
TRUE_HISTORIES = tuple(histories(programmed(TRUE_POOL, (1,), (2,), (1,))))


def near(history: History, chance: Random) -> History:
    """The history with up to two wrong answers, and up to six events of two threads swapped."""
    changed = list(history)
    for _ in range(chance.randrange(3)):
        place = chance.randrange(len(changed))
        event = changed[place]
        if isinstance(event, Returned) and event.result is not None:
            changed[place] = Returned(event.thread, not event.result)
    for _ in range(chance.randrange(7)):
        place = chance.randrange(len(changed) - 1)
        one, other = changed[place : place + 2]
        if one.thread != other.thread:
            changed[place : place + 2] = [other, one]
    return tuple(changed)


def test_explained_means_that_some_order_explains_it() -> None:
    """Both say the same; and there are many of both kinds."""
    model = sequential_pool(TRUE_POOL)
    chance = Random(6)
    verdicts: Counter[bool] = Counter()
    for _ in range(500):
        history = near(chance.choice(TRUE_HISTORIES), chance)
        explained = explain(history, sequential(model)).is_complete
        assert explained == explained_by_trying_all_orders(history, model), history
        verdicts[explained] += 1
    assert min(verdicts[True], verdicts[False]) > 100


def test_the_order_that_is_given_explains_the_history() -> None:
    """The calls in the order given, one after the other, have the same results."""
    model = sequential_pool(TRUE_POOL)
    for history in TRUE_HISTORIES[:200]:
        order = explain(history, sequential(model)).order
        returned = {
            (event.thread, operation): event for _, _, operation, event in calls_of(history)
        }
        assert len(order) == len(returned)
        replayed: History = ()
        for taken in order:
            answer = returned[taken.thread, taken.operation]
            replayed += (Called(taken.thread, taken.operation), answer)
        assert explain(replayed, sequential(model)).order == order


def test_names_of_buffers_stay_with_their_threads() -> None:
    released = whole("t", ASKS, GRANTED) + whole("t", Release("a"), Outcome())
    assert explain(released, sequential(TWO_BYTES)).is_complete
    unknown = whole("t", Release("a"), Outcome())
    assert not explain(unknown, sequential(TWO_BYTES)).is_complete
