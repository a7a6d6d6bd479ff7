"""Programs over a concurrent model: what runs there are, and where they end."""

from collections.abc import Iterator

import pytest

from purgatory_model.concurrent_memory_pool import ConcurrentPoolState
from purgatory_model.histories import (
    LimitReached,
    NeverOver,
    count_histories,
    final_states,
    histories,
    impossible_from,
    is_history,
)
from purgatory_model.interleaving import (
    Called,
    Happened,
    HistoryEvent,
    Returned,
    Step,
    WithoutInterleaving,
    thread_of,
)
from purgatory_model.programs import Programmed, same_kind
from purgatory_spec.operations import Allocate, Check, Operation, Release, RunOne, Satisfy, Watch
from purgatory_spec.outcomes import tried

from .concurrent_pools import has_nothing, pool, programmed


def asks(thread: str, size_bytes: int) -> tuple[HistoryEvent, HistoryEvent, HistoryEvent]:
    """A request, and the two ways in which it may end."""
    return (
        Called(thread, Allocate(thread, size_bytes)),
        Returned(thread, True),
        Returned(thread, False),
    )


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


def test_a_thread_makes_its_calls_in_their_order_and_no_others() -> None:
    """
    Given two threads with programs
    When their histories are looked at
    Then the calls of each thread are those of its program
    """
    runs = programmed(pool(2, 2, 2), (1, 2), (2,))
    for history in histories(runs):
        for thread, program in runs.programs.items():
            called = [e.operation for e in history if isinstance(e, Called) and e.thread == thread]
            rest = iter(program)
            assert all(operation in rest for operation in called)
            granted = [e.result for e in history if isinstance(e, Returned) and e.thread == thread]
            releases = sum(isinstance(operation, Release) for operation in called)
            assert releases == granted.count(True)


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


def test_a_call_may_be_left_out_where_it_makes_no_sense() -> None:
    """
    Given a thread that is refused, and a program that goes on with a release
    When releases of nothing are left out, and when they are not
    Then the runs in which it is refused come to their end, or are no whole runs
    """
    with_refusals = programmed(pool(1, 1, 2), (1,), (1,))
    without = Programmed(with_refusals.model, with_refusals.programs)
    assert with_refusals.leaves_out is has_nothing
    refused = [h for h in histories(with_refusals) if any(_is_refusal(event) for event in h)]
    assert refused
    assert not [h for h in histories(without) if any(_is_refusal(event) for event in h)]
    assert count_histories(without) == count_histories(with_refusals) - len(refused)


def _is_refusal(event: HistoryEvent) -> bool:
    return isinstance(event, Returned) and event.result is False


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


def test_a_thread_is_in_a_program_or_in_the_background() -> None:
    with pytest.raises(ValueError, match="thread 't1' has a program and is in the background too"):
        Programmed(pool(1, 1, 1), {"t1": ()}, frozenset({"t1"}))


def test_threads_in_the_background_may_be_held_back() -> None:
    """
    Given two threads of which one has a program
    When the other one is held back, and when it is free to do what it likes
    Then there is one history, or no end of states in which it has a buffer
    """
    program: dict[str, tuple[Operation, ...]] = {"t1": (Allocate("t1", 1),)}
    held_back = Programmed(pool(1, 1, 2), program, frozenset())
    assert list(histories(held_back)) == [asks("t1", 1)[:2]]
    free = Programmed(pool(1, 1, 2), program)
    outstanding = {state.outstanding_bytes for state in final_states(free)}
    assert outstanding == {0, 1}


class Alarm:
    """A model in which an event and the check that it calls for are one step."""

    def initial(self) -> int:
        return 0

    def steps(self, state: int) -> Iterator[tuple[Step, int]]:
        if state == 0:
            yield Step("Raise", ("x",)), 1
            yield Step("Watch", ("x",)), 3
        elif state == 1:
            yield Step("Walk", ("x",)), 2

    def history(self, before: int, step: Step, after: int) -> tuple[HistoryEvent, ...]:
        if step.action == "Watch":
            return Called("x", Watch("1", ("k",), 1)), Returned("x", False)
        if step.action == "Raise":
            return Called("x", Satisfy("1")), Returned("x"), Called("x", Check("k"))
        return Happened("x", tried("1")), Returned("x", 0)


def test_a_program_names_the_check_and_not_the_event_that_comes_with_it() -> None:
    """
    Given a model that shows an event and the check of its key in one step
    When a program names the check
    Then the history has both, and the program is at its end
    """
    ((satisfies, done, checks, *rest),) = histories(Programmed(Alarm(), {"x": (Check("k"),)}))
    assert (satisfies, done, checks) == (
        Called("x", Satisfy("1")),
        Returned("x"),
        Called("x", Check("k")),
    )
    assert rest == [Happened("x", tried("1")), Returned("x", 0)]


def test_a_program_may_leave_to_the_model_what_is_watched() -> None:
    """
    Given a program that names an operation which the model calls otherwise
    When calls of the same kind fit, and when they have to be equal
    Then the program is followed, or never over
    """
    program: dict[str, tuple[Operation, ...]] = {"x": (Watch("any", ("k",), 1),)}
    assert count_histories(Programmed(Alarm(), program, fits=same_kind)) == 1
    with pytest.raises(NeverOver):
        count_histories(Programmed(Alarm(), program))
    assert not same_kind(Check("k"), RunOne())


def test_without_interleaving_only_the_thread_inside_a_call_moves() -> None:
    """
    Given a pool of one byte, and two threads that ask for it, without interleaving
    When the histories are listed
    Then each call returns before the next one begins, and they are these two
    """

    def inside(state: ConcurrentPoolState) -> frozenset[str]:
        return state.inside

    alone = WithoutInterleaving(pool(1, 1, 2), inside)
    runs = Programmed(alone, {"t1": (Allocate("t1", 1),), "t2": (Allocate("t2", 1),)})
    first, one_has, one_not = asks("t1", 1)
    second, two_has, two_not = asks("t2", 1)
    assert set(histories(runs)) == {
        (first, one_has, second, two_not),
        (second, two_has, first, one_not),
    }


@pytest.mark.parametrize("arguments", [(), (1, "t1")])
def test_a_label_without_a_thread_is_told(arguments: tuple[str | int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the label Advance\(.*\) names no thread"):
        thread_of(Step("Advance", arguments))
