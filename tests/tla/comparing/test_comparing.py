"""A binding is compared as a whole: what it maps, and both state graphs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.checkers.results import Statistics
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.comparing.comparing import (
    QUICK,
    CompareSettings,
    Comparison,
    Dump,
    GraphVerdict,
    compare,
    compare_with,
    explore_module,
)
from purgatory_tla.comparing.report import told
from purgatory_tla.errors import TimedOut, UnexpectedOutput, UnknownOperator

from ..conftest import Toys
from .toy_history import HISTORY, TOY, ToyState, counting, one_step, without_labels


@pytest.fixture
def modules(toys: Toys) -> Path:
    """A folder with the toy and its history."""
    (toys.folder / "ToyHistory.tla").write_text(HISTORY, encoding="utf-8")
    return toys.folder


def compared(binding: Binding[ToyState], modules: Path) -> Comparison:
    return compare(binding, CompareSettings(modules, java_options=QUICK))


@pytest.mark.java
@pytest.mark.slow
def test_a_model_and_its_module_are_equal(modules: Path) -> None:
    found = compared(TOY, modules)
    assert found.verdict is GraphVerdict.EQUAL, told(found)
    assert (found.states, found.edges, found.differences) == (12, 18, None)


@pytest.mark.java
@pytest.mark.slow
def test_what_differs_is_told(modules: Path) -> None:
    def doubles(state: ToyState) -> list[tuple[Step, ToyState]]:
        return [
            (step, (target[0] + (step.action == "Add" and state[0] == 1), target[1]))
            for step, target in TOY.steps(state)
        ]

    found = compared(replace(TOY, steps=doubles), modules)
    assert found.verdict is GraphVerdict.DIFFERENT
    assert found.differences is not None
    assert [step.label for step in found.differences.first[0].path] == [
        'Begin("a")',
        'Begin("b")',
        'Add("a")',
    ]
    assert found.differences.first[0].label == 'Add("b")'
    assert "     total: the model says 3, TLA+ says 2" in told(found)


@pytest.mark.java
@pytest.mark.slow
def test_labels_without_their_arguments_are_a_difference(modules: Path) -> None:
    found = compared(without_labels(TOY), modules)
    assert found.differences is not None
    assert {each.label for each in found.differences.first} == {"Begin", 'Begin("a")'}
    assert set(found.differences.states.values()) == {0}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"variables": {"total": TOY.variables["total"]}}, "the variable pc of ToyHistory is not"),
        (
            {"variables": {**TOY.variables, "sum": TOY.variables["total"]}},
            "the variable sum is mapped, and ToyHistory has none of that name",
        ),
        (
            {"actions": {**TOY.actions, "Drop": "drops"}},
            "the action Drop is mapped, and ToyHistory has none of that name",
        ),
        ({"module": "Toy"}, "Toy has no variable 'step': it is no history module"),
        (
            {"variables": {**TOY.variables, "pc": Variable("nothing", lambda _: 0)}},
            "two states of the model have the same values of all variables",
        ),
    ],
)
def test_a_map_that_does_not_fit_is_told(
    changes: dict[str, object], problem: str, modules: Path
) -> None:
    found = compared(replace(TOY, **changes), modules)  # type: ignore[arg-type]
    assert (found.verdict, found.states) == (GraphVerdict.UNFIT, 0)
    assert problem in "\n".join(told(found))


ZERO: Variable[int] = Variable("nothing", lambda _: 0)


@pytest.mark.java
@pytest.mark.slow
def test_actions_must_occur_and_be_mapped(modules: Path) -> None:
    found = compared(replace(TOY, actions={"Begin": "begins", "Init": "never"}), modules)
    assert found.verdict is GraphVerdict.UNFIT
    assert told(found) == [
        "the action Add occurs and is not mapped",
        "the action Init is mapped and never occurs in this instance",
    ]


@pytest.mark.java
@pytest.mark.slow
def test_what_the_checker_cannot_run_is_an_error(modules: Path) -> None:
    with pytest.raises(UnknownOperator, match="no constant Least"):
        compared(replace(TOY, constants={**TOY.constants, "Least": "0"}), modules)
    endless = replace(TOY, constants={**TOY.constants, "Most": "100000000"})
    with pytest.raises(TimedOut):
        compare(endless, CompareSettings(modules, timeout=1))


def test_a_model_without_an_end_is_ended_in_time(modules: Path) -> None:
    """The time bounds the executable side as well."""

    def steps(state: int) -> Iterator[tuple[Step, int]]:
        yield Step("Add", (1,)), state + 1

    given: dict[str, Any] = {
        "initial": 0,
        "steps": steps,
        "variables": dict.fromkeys(TOY.variables, ZERO),
    }
    endless = replace(TOY, **given)
    with pytest.raises(TimedOut, match=r"the executable model was not explored within 0\.05 s"):
        compare(endless, CompareSettings(modules, timeout=0.05))


def test_a_dump_with_less_than_the_checker_found_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CountingHistory.tla").write_text(
        "---- MODULE CountingHistory ----\nVARIABLES\n  total,\n  step\nAdd(t) == TRUE\n====\n",
        encoding="utf-8",
    )
    path = tmp_path / "graph.dot"
    path.write_text(one_step(), encoding="utf-8")
    found = compare_with(counting(1), Dump(path, Statistics(3, 3, 3, 0.1)), tmp_path)
    assert found.verdict is GraphVerdict.EQUAL
    with pytest.raises(UnexpectedOutput, match="TLC says that it found 4, 4 generated"):
        compare_with(counting(1), Dump(path, Statistics(4, 4, 3, 0.1)), tmp_path)


@pytest.mark.java
@pytest.mark.slow
def test_a_dump_can_be_compared_again(modules: Path, tmp_path: Path) -> None:
    dump = explore_module(TOY, CompareSettings(modules, java_options=QUICK), tmp_path / "toy.dot")
    assert compare_with(TOY, dump, modules).verdict is GraphVerdict.EQUAL

    def lazy(state: ToyState) -> list[tuple[Step, ToyState]]:
        return [] if state[0] == 1 else list(TOY.steps(state))

    found = compare_with(replace(TOY, steps=lazy), dump, modules)
    assert found.differences is not None
    assert [each.only.value for each in found.differences.first] == ["TLA+"]
