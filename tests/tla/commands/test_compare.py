"""``purgatory tla compare``, as a person uses it."""

import re
from collections.abc import Iterator
from dataclasses import replace

import click
import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.commands import compare as compare_commands
from purgatory_tla.commands.commands import tla

from ..comparing.toy_history import HISTORY, TOY, ToyState, without_labels
from ..conftest import Toys


def only_one(state: ToyState) -> Iterator[tuple[Step, ToyState]]:
    """The toy in which the second thread never begins."""
    return (each for each in TOY.steps(state) if each[0] != Step("Begin", ("b",)))


@pytest.fixture
def run(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> "Run":
    """The command on bindings of the toy, of which one is equal."""
    (toys.folder / "ToyHistory.tla").write_text(HISTORY, encoding="utf-8")
    most = {**TOY.constants, "Most": "100000000"}
    bindings = (
        TOY,
        replace(TOY, name="toy-alone", steps=only_one),
        replace(without_labels(TOY), name="toy-unlabelled"),
        replace(TOY, name="toy-unmapped", actions={"Add": "adds one"}),
        replace(TOY, name="toy-unread", module="Nothing"),
        replace(TOY, name="toy-endless", constants=most),
    )
    monkeypatch.setattr(compare_commands, "modules_folder", lambda: toys.folder)
    monkeypatch.setattr(compare_commands, "reported_bindings", lambda: {"toy": TOY})
    monkeypatch.setattr(
        compare_commands, "small_bindings", lambda: {each.name: each for each in bindings[1:]}
    )
    return Run()


class Run:
    """Runs the command."""

    def __call__(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": "80"}).invoke(compare_commands.compare_, words)


def test_it_is_a_command_of_the_group() -> None:
    assert tla.get_command(click.Context(tla), "compare") is compare_commands.compare_


@pytest.mark.java
@pytest.mark.slow
def test_equal_graphs_are_a_row_and_success(run: Run) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    head, row = result.output.splitlines()
    assert head.split() == ["binding", "states", "edges", "seconds", "verdict"]
    assert re.fullmatch(r"✓ toy +12 +18 +\d+\.\d  equal", row)


@pytest.mark.java
@pytest.mark.slow
def test_a_difference_is_told_with_its_path(run: Run) -> None:
    result = run("toy-alone", "toy")
    assert result.exit_code == 1, result.output
    lines = result.output.splitlines()
    assert re.fullmatch(r"✗ toy-alone +12 +18 +\d+\.\d  different", lines[1])
    assert lines[2] == "    only in TLA+: 7 states, 14 edges"
    told = lines.index("    an edge that only TLA+ has, from the initial state:")
    assert lines[told + 1] == '      then Begin("b")'
    assert lines[told + 3] == "         the model has no such step there"
    assert lines[-1].startswith("✓ toy ")


@pytest.mark.java
@pytest.mark.slow
def test_a_map_that_does_not_fit_is_a_failure(run: Run) -> None:
    result = run("toy-unmapped")
    assert result.exit_code == 1
    assert "unfit" in result.output
    assert "the action Begin occurs and is not mapped" in result.output


@pytest.mark.java
@pytest.mark.slow
def test_a_run_without_an_end_is_inconclusive(run: Run) -> None:
    result = run("toy-endless", "--timeout", "1")
    assert result.exit_code == 4, result.output
    assert "inconclusive" in result.output
    assert "1 s" in result.output
    assert run("toy-endless", "toy-unread", "--timeout", "1").exit_code == 1


def test_a_module_that_cannot_be_read_is_a_failure(run: Run) -> None:
    result = run("toy-unread")
    assert result.exit_code == 1
    assert "Nothing.tla cannot be read" in result.output


def test_an_unknown_name_is_a_usage_error(run: Run) -> None:
    near = run("toy-lone").exception
    assert isinstance(near, Problem)
    assert near.exit_code == 2
    assert "did you mean toy-alone" in str(near)
    far = run("wheel").exception
    assert isinstance(far, Problem)
    assert str(far).startswith("there is no binding 'wheel'; there are: toy, toy-alone, ")


def test_a_missing_tool_is_a_problem(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    problem = run("toy").exception
    assert isinstance(problem, Problem)
    assert problem.exit_code == 5
    assert "install" in str(problem)
