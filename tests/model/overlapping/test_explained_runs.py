"""Checking all runs at once: what is found, that it is shortest, and what is no verdict."""

import pytest

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.overlapping.explained_runs import check_runs
from purgatory_model.overlapping.histories import LimitReached, NeverOver, histories
from purgatory_model.overlapping.linearizability import Explainer, explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_spec.operations import Allocate

from ..concurrent_pools import pool, programmed, sequential_pool


def explainer_of_two_bytes() -> Explainer[MemoryPoolState]:
    return Explainer(sequential(sequential_pool(pool(2, 2, 2, strict=True))))


DEFECTS = ("split-test-and-subtract", "blind-store", "swap-gives-up")


@pytest.mark.parametrize("variants", [(), *((each,) for each in DEFECTS)])
def test_all_at_once_finds_what_each_by_itself_does(variants: tuple[str, ...]) -> None:
    """Both say the same, and no history ends earlier than the one that is told."""
    runs = programmed(pool(2, 2, 2, *variants, strict=True), (1, 2), (1,))
    checked = check_runs(runs, explainer_of_two_bytes())
    rules = sequential(sequential_pool(pool(2, 2, 2, strict=True)))
    ends = [explain(history, rules).unexplained for history in histories(runs)]
    wrong = [each for each in ends if each is not None]
    assert (checked.unexplained is None) == (not wrong) == (not variants)
    if checked.unexplained is not None:
        assert checked.unexplained.history in wrong


def test_the_run_that_is_told_is_a_shortest_one() -> None:
    """The run has just the steps that it takes."""
    shared = pool(2, 2, 2, "swap-gives-up", strict=True)
    run = check_runs(Programmed(shared, {}), explainer_of_two_bytes()).unexplained
    assert run is not None
    assert sorted(step.action for step in run.steps) == sorted(
        ["Ask", "Ask", "Read", "Read", "Swap", "FailToSwap", "Refuse"]
    )


def test_programs_that_are_never_over_are_no_verdict() -> None:
    """There is an error, and no word of everything being explained."""
    never = Programmed(pool(2, 2, 1), {"t1": (Allocate("t1", 1), Allocate("t1", 9))})
    with pytest.raises(NeverOver, match=r"thread 't1' never gets to call .*size_bytes=9"):
        check_runs(never, explainer_of_two_bytes())


def test_a_limit_that_is_reached_is_no_verdict() -> None:
    runs = programmed(pool(2, 2, 2, strict=True), (1, 2), (2, 1))
    with pytest.raises(LimitReached, match="more than 100 places"):
        check_runs(runs, explainer_of_two_bytes(), limit=100)


def test_pairs_and_ends_are_counted() -> None:
    """There is a pair behind each of its four steps and before them, and one is an end."""
    checked = check_runs(programmed(pool(2, 2, 1), (1,)), explainer_of_two_bytes())
    assert (checked.pairs, checked.over) == (5, 1)
