"""The histories of programs: each once, counted, recognised, and where they end."""

import pytest

from purgatory_model.overlapping.histories import (
    LimitReached,
    NeverOver,
    count_histories,
    final_states,
    histories,
    impossible_from,
    is_history,
)
from purgatory_model.overlapping.programs import Programmed
from purgatory_spec.operations import Allocate

from ..concurrent_pools import asks, pool, programmed


def test_the_histories_of_two_requests_are_these() -> None:
    """
    Given a pool of one byte and two threads that ask for it
    When the histories are listed
    Then they are those in which one of them has it, and the other is refused after that
    """
    shared = Programmed(pool(1, 1, 2), {"t1": (Allocate("t1", 1),), "t2": (Allocate("t2", 1),)})
    found = list(histories(shared))
    first, one_has, one_not = asks("t1", 1)
    second, two_has, two_not = asks("t2", 1)
    assert set(found) == {
        (first, one_has, second, two_not),
        (first, second, one_has, two_not),
        (first, second, two_has, one_not),
        (second, first, one_has, two_not),
        (second, first, two_has, one_not),
        (second, two_has, first, one_not),
    }
    assert len(found) == count_histories(shared) == 6


def test_a_history_of_a_run_is_recognised_and_another_one_is_not() -> None:
    """
    Given the histories of programs
    When each is given back, and when its last answer is the other one
    Then the first is one of them, and the second is not, from its last event on
    """
    runs = programmed(pool(1, 1, 2), (1,), (1,))
    for history in histories(runs):
        assert is_history(runs, history)
        assert is_history(runs, history[:-1])
        assert impossible_from(runs, (*history, history[0])) == len(history)
    first, has_it, has_not = asks("t1", 1)
    assert is_history(runs, (first, has_it))
    assert impossible_from(runs, (first, has_not)) == 1


def test_the_final_states_are_those_in_which_histories_end() -> None:
    """
    Given threads that give back what they get
    When all runs are over
    Then everything is available again, and nobody is inside a call
    """
    states = final_states(programmed(pool(3, 2, 2), (1, 2), (2, 1)))
    assert {state.available_bytes for state in states} == {3}
    assert {state.inside for state in states} == {frozenset()}
    kept = Programmed(pool(3, 2, 2), {"t1": (Allocate("t1", 2),), "t2": (Allocate("t2", 1),)})
    assert {state.available_bytes for state in final_states(kept)} == {0}


def test_a_program_that_cannot_be_followed_is_told() -> None:
    """
    Given a program with a call that the model never offers
    When histories, their number or final states are asked for
    Then the call is told; nothing comes out empty
    """
    never = Programmed(pool(1, 1, 1), {"t1": (Allocate("t1", 1), Allocate("t1", 1))})
    message = r"thread 't1' never gets to call Allocate\(buffer='t1', size_bytes=1\)"
    with pytest.raises(NeverOver, match=message):
        list(histories(never))
    with pytest.raises(NeverOver, match=message):
        count_histories(never)
    with pytest.raises(NeverOver, match=message):
        final_states(never)


def test_a_state_that_never_settles_is_told() -> None:
    never = Programmed(pool(1, 1, 1), {"t1": (Allocate("t1", 1),)}, settled=lambda _: False)
    with pytest.raises(NeverOver, match="the state never becomes one in which a run may be over"):
        final_states(never)


def test_too_much_is_told() -> None:
    """
    Given a limit that is too small
    When histories, their number or final states are asked for
    Then there is an error that says what to do, and no part of an answer
    """
    runs = programmed(pool(2, 2, 2), (1, 2), (2, 1))
    for ask in (final_states, count_histories):
        with pytest.raises(LimitReached, match=r"more than 20 .* shorten them"):
            ask(runs, limit=20)
    with pytest.raises(LimitReached, match="more than 2000 beginnings of histories"):
        list(histories(runs, limit=2000))


def test_histories_without_end_are_told() -> None:
    """
    Given threads without a program, which may call on for ever
    When their histories are counted
    Then there is an error
    """
    with pytest.raises(NeverOver, match="histories without end"):
        count_histories(Programmed(pool(1, 1, 1), {}))
