"""States that differ in names alone are visited once, and every verdict stays the same."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from purgatory_model.claims.explorer import explore
from purgatory_model.claims.state_graph import complete_graph
from purgatory_model.claims.symmetry import asymmetry
from purgatory_model.claims.timer import (
    FALSE_CLAIMS,
    TRUE_CLAIMS,
    Instance,
    WheelState,
    WheelStep,
    breaks,
    renamed,
    task_symmetry,
)

SMALL = Instance(delays_ms=(0, 1, 3), last_ms=2)
SYMMETRY = task_symmetry(SMALL)
SWAPPED = {"a": "b", "b": "a"}


def initial() -> WheelState:
    return SMALL.model().initial()


def every_state() -> tuple[WheelState, ...]:
    def unlabelled(state: WheelState) -> Iterator[tuple[None, WheelState]]:
        return ((None, target) for _, target in SMALL.steps(state))

    return complete_graph(initial(), unlabelled).states


@pytest.mark.slow
@pytest.mark.parametrize("claim", TRUE_CLAIMS)
def test_a_true_claim_holds_in_the_representatives(claim: str) -> None:
    """
    Given a claim that is true of the wheel
    When its states are visited with and without the symmetry of its two tasks
    Then it holds both times, as far from the initial state, and each representative is visited once
    """
    whole = explore(initial(), SMALL.steps, breaks(SMALL, claim))
    reduced = explore(initial(), SMALL.steps, breaks(SMALL, claim), representative=SYMMETRY)
    assert (whole.complete, reduced.complete) == (True, True)
    assert (whole.counterexample, reduced.counterexample) == (None, None)
    assert reduced.depth == whole.depth
    assert reduced.states == len({SYMMETRY(state) for state in every_state()}) < whole.states


@pytest.mark.parametrize("claim", FALSE_CLAIMS)
def test_a_false_claim_is_broken_as_early_by_a_path_that_can_be_followed(claim: str) -> None:
    """
    Given a claim that is false
    When a counterexample is looked for with and without the symmetry
    Then both are as long, and the one found among representatives needs no renaming to be followed
    """
    broken = breaks(SMALL, claim)
    whole = explore(initial(), SMALL.steps, broken).counterexample
    found = explore(initial(), SMALL.steps, broken, representative=SYMMETRY).counterexample
    assert found is not None
    assert whole is not None
    assert len(found.path) == len(whole.path)
    state = found.initial
    assert state == initial()
    for label, after in found.path:
        assert (label, after) in list(SMALL.steps(state))
        before, state = state, after
    assert broken(before, found.path[-1][0], state) == found.broken


@pytest.mark.slow
def test_the_tasks_of_an_instance_are_interchangeable() -> None:
    """
    Given the wheel and its invariants
    When every state is compared with its representative
    Then both have the same steps, up to representatives
    """
    assert asymmetry(initial(), SMALL.steps, breaks(SMALL, "invariants"), SYMMETRY) is None


def only_in_the_queue(state: WheelState) -> WheelState:
    """No symmetry: the pending tasks keep their names."""
    return replace(state, queue=min(state.queue, renamed(state, SWAPPED).queue))


def least_by_due_ticks(state: WheelState) -> WheelState:
    """Nearly a symmetry: two tasks of one due tick may wait in buckets of different levels."""
    return min(
        (state, renamed(state, SWAPPED)),
        key=lambda each: (each.queue, sorted(each.store.due_ticks.items())),
    )


def back_and_forth(state: WheelState) -> WheelState:
    """No representative: of two states each stands for the other."""
    return renamed(state, SWAPPED)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (only_in_the_queue, "other steps"),
        (least_by_due_ticks, "other steps"),
        (back_and_forth, "another representative"),
    ],
)
def test_a_renaming_that_is_no_symmetry_is_found(wrong: object, why: str) -> None:
    """
    Given a function that renames the queue alone, and others that give no single representative
    When it is compared with the steps
    Then the shortest path to a state that it represents wrongly is told
    """
    assert callable(wrong)
    found = asymmetry(initial(), SMALL.steps, breaks(SMALL, "invariants"), wrong)
    assert found is not None
    assert why in found.broken
    assert len(found.path) <= 4


def test_a_claim_that_names_a_task_is_not_symmetric() -> None:
    """
    Given a claim that only one of the tasks breaks
    When the symmetry of the tasks is compared with it
    Then it is found that this symmetry does not serve for this claim
    """

    def names_a_task(before: WheelState, step: WheelStep, after: WheelState) -> str | None:
        return "a has run" if "a" in after.queue else None

    found = asymmetry(initial(), SMALL.steps, names_a_task, SYMMETRY)
    assert found is not None
    assert "other steps" in found.broken


def test_a_wrong_symmetry_is_no_silent_counterexample() -> None:
    """
    Given a function that is no symmetry and a false claim beyond it
    When the counterexample is to be told in the states themselves
    Then there is an error rather than a path that cannot be followed
    """

    steps = {0: [("up", 1)], 2: [("up", 3)]}

    def two_for_one(state: int) -> int:
        return 2 if state == 1 else state

    def broken(before: int, label: str, after: int) -> str | None:
        return "three" if after == 3 else None

    with pytest.raises(ValueError, match="no symmetry"):
        explore(0, lambda state: steps.get(state, []), broken, representative=two_for_one)
