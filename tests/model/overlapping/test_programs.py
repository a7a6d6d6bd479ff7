"""Programs over a concurrent model: what runs there are."""

from collections.abc import Iterator

import pytest

from purgatory_model.overlapping.histories import NeverOver, count_histories, histories
from purgatory_model.overlapping.interleaving import (
    Called,
    Happened,
    HistoryEvent,
    Returned,
    Step,
    thread_of,
)
from purgatory_model.overlapping.programs import Programmed
from purgatory_spec.operations import Allocate, Check, Operation, Release, Satisfy, Watch
from purgatory_spec.outcomes import tried

from ..concurrent_pools import asks, has_nothing, pool, programmed


def test_a_thread_makes_its_calls_in_their_order_and_no_others() -> None:
    """Given two threads with programs: the calls of each thread are those of its program."""
    runs = programmed(pool(2, 2, 2), (1, 2), (2,))
    for history in histories(runs):
        for thread, program in runs.programs.items():
            called = [e.operation for e in history if isinstance(e, Called) and e.thread == thread]
            rest = iter(program)
            assert all(operation in rest for operation in called)
            granted = [e.result for e in history if isinstance(e, Returned) and e.thread == thread]
            releases = sum(isinstance(operation, Release) for operation in called)
            assert releases == granted.count(True)


def test_a_call_may_be_left_out_where_it_makes_no_sense() -> None:
    """The runs in which it is refused come to their end, or are no whole runs."""
    with_refusals = programmed(pool(1, 1, 2), (1,), (1,))
    without = Programmed(with_refusals.model, with_refusals.programs)
    assert with_refusals.leaves_out is has_nothing
    refused = [h for h in histories(with_refusals) if any(_is_refusal(event) for event in h)]
    assert refused
    assert not [h for h in histories(without) if any(_is_refusal(event) for event in h)]
    assert count_histories(without) == count_histories(with_refusals) - len(refused)


def _is_refusal(event: HistoryEvent) -> bool:
    return isinstance(event, Returned) and event.result is False


def test_a_thread_is_in_a_program_or_in_the_background() -> None:
    with pytest.raises(ValueError, match="thread 't1' has a program and is in the background too"):
        Programmed(pool(1, 1, 1), {"t1": ()}, frozenset({"t1"}))


def test_threads_in_the_background_may_be_held_back() -> None:
    """There is one history, or no end of histories."""
    program: dict[str, tuple[Operation, ...]] = {"t1": (Allocate("t1", 1),)}
    held_back = Programmed(pool(1, 1, 2), program, frozenset())
    assert list(histories(held_back)) == [asks("t1", 1)[:2]]
    with pytest.raises(NeverOver, match="histories without end"):
        count_histories(Programmed(pool(1, 1, 2), program))


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
    """The history has both, and the program is at its end."""
    ((satisfies, done, checks, *rest),) = histories(Programmed(Alarm(), {"x": (Check("k"),)}))
    assert (satisfies, done, checks) == (
        Called("x", Satisfy("1")),
        Returned("x"),
        Called("x", Check("k")),
    )
    assert rest == [Happened("x", tried("1")), Returned("x", 0)]


def test_a_program_may_leave_to_the_model_what_is_watched() -> None:
    """The program is followed, or never over."""

    def fits(wanted: Operation, called: Operation) -> bool:
        return isinstance(wanted, Watch) and isinstance(called, Watch)

    program: dict[str, tuple[Operation, ...]] = {"x": (Watch("any", ("k",), 1),)}
    assert count_histories(Programmed(Alarm(), program, fits=fits)) == 1
    with pytest.raises(NeverOver):
        count_histories(Programmed(Alarm(), program))


@pytest.mark.parametrize("arguments", [(), (1, "t1")])
def test_a_label_without_a_thread_is_told(arguments: tuple[str | int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the label Advance\(.*\) names no thread"):
        thread_of(Step("Advance", arguments))
