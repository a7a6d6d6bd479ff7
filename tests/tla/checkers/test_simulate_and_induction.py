"""``simulate`` and ``induction`` with the real TLC."""

from pathlib import Path

import pytest

from purgatory_tla import (
    Configuration,
    Outcome,
    UnknownOperator,
    VacuousRun,
    induction,
    simulate,
    wheel_jar,
)

pytestmark = [pytest.mark.java, pytest.mark.slow]

INSTANCE = Configuration(specification="Spec", constants={"Top": "4"}, invariants=("Natural",))


def test_simulated_behaviours_are_those_of_the_seed(counter: Path) -> None:
    first = simulate(counter, INSTANCE, traces=3, depth=7, seed=5, jar=wheel_jar())
    again = simulate(counter, INSTANCE, traces=3, depth=7, seed=5, jar=wheel_jar())
    assert (first.outcome, first.violated, first.violation) == (Outcome.BOUNDED, None, None)
    assert first.traces == again.traces
    assert [[state.values["x"] for state in trace.states] for trace in first.traces] == [
        [0, 1, 2, 3, 4, 0, 1]
    ] * 3
    assert first.traces[0].states[3].meta == {"index": 3}
    assert first.version.startswith("TLC2 Version 2.15")


def test_a_violation_in_a_simulation_is_its_result(counter: Path) -> None:
    result = simulate(
        counter, INSTANCE, invariants=["Small"], traces=3, depth=7, seed=5, jar=wheel_jar()
    )
    assert (result.outcome, result.violated) == (Outcome.INVARIANT, "Small")
    assert result.violation is not None
    assert [state.values["x"] for state in result.violation.states] == [0, 1, 2, 3]
    assert result.traces == ()


def test_a_simulation_without_a_state_is_vacuous(counter: Path) -> None:
    with pytest.raises(VacuousRun):
        simulate(
            counter,
            INSTANCE.with_changes(init="NoState", next="Next"),
            traces=1,
            depth=2,
            seed=1,
            jar=wheel_jar(),
        )
    with pytest.raises(ValueError, match="must be positive"):
        simulate(counter, INSTANCE, traces=0, depth=2, seed=1)


def test_an_inductive_invariant(counter: Path) -> None:
    result = induction(
        counter, INSTANCE, inductive_invariant="Range", implies="Natural", jar=wheel_jar()
    )
    assert (result.holds, result.failed) == (True, None)
    assert result.base.statistics.distinct == 1
    assert result.step.statistics.distinct == 5 * 4
    assert result.implication is not None
    assert result.implication.statistics.distinct == 5 * 4


def test_an_invariant_that_a_step_leaves(counter: Path) -> None:
    result = induction(counter, INSTANCE, inductive_invariant="Half", jar=wheel_jar())
    assert (result.holds, result.failed) == (False, "step")
    assert result.step.trace is not None
    assert [state.values["x"] for state in result.step.trace.states] == [3, 4]
    assert result.step.trace.states[1].meta["action"] == "Up"


def test_an_invariant_that_is_too_weak_for_the_claim(counter: Path) -> None:
    result = induction(
        counter, INSTANCE, inductive_invariant="Range", implies="Small", jar=wheel_jar()
    )
    assert (result.holds, result.failed) == (False, "implication")
    assert result.implication is not None
    assert result.implication.trace is not None
    assert len(result.implication.trace.states) == 1


def test_a_false_invariant_proves_nothing(counter: Path) -> None:
    with pytest.raises(VacuousRun, match="no initial state"):
        induction(counter, INSTANCE, init="NoState", inductive_invariant="NoState", jar=wheel_jar())
    with pytest.raises(UnknownOperator, match="Nowhere"):
        induction(counter, INSTANCE, inductive_invariant="Nowhere", jar=wheel_jar())
