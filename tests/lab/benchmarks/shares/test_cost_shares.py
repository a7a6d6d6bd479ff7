"""Parts of what an operation costs: none is lost, and nothing is measured that was not done."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner

from purgatory_lab.benchmarks import cost_shares
from purgatory_lab.benchmarks.cost_shares import (
    CostPart,
    main,
    parts_of_expiry,
    parts_of_purgatory,
    table_of,
)
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure
from purgatory_lab.benchmarks.python_peer.new_design import Request


@pytest.mark.large
@pytest.mark.parametrize("measure", [parts_of_purgatory, parts_of_expiry])
def test_parts_are_the_users_and_ours(measure: Callable[[int, int], list[CostPart]]) -> None:
    parts = measure(200, 3)
    assert {part.whose for part in parts} == {"harness", "user", "implementation"}
    # Three times what is done to each operation, and never nothing.
    assert sum(part.quiet_ns for part in parts) > 100
    assert len({part.name for part in parts}) == len(parts) == 6


def test_the_sum_is_that_of_the_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = {"loop": 10.0, "make": 110.0, "try": 20.0, "watch": 500.0, "check": 200.0}
    slow = {name: 2 * ns for name, ns in quiet.items()}
    monkeypatch.setattr(cost_shares, "_both", lambda _one_round, _rounds: (quiet, slow))
    parts = parts_of_purgatory(1, 1)
    assert [part.quiet_ns for part in parts] == [10, 100, 40, 350, 20, 180]
    assert sum(part.quiet_ns for part in parts) == quiet["watch"] + quiet["check"]
    assert table_of(parts).splitlines()[-1] == "| **together** |  | 700 | 700 |"


def test_the_sum_is_that_of_the_stretches_of_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = {"loop": 1.0, "make": 50.0, "add": 90.0, "advance": 300.0, "call": 30.0, "run": 100.0}
    monkeypatch.setattr(cost_shares, "_both", lambda _one_round, _rounds: (quiet, quiet))
    parts = parts_of_expiry(1, 1)
    assert [part.quiet_ns for part in parts] == [1, 49, 40, 300, 30, 70]
    assert sum(part.quiet_ns for part in parts) == 90 + 300 + 100


class Lost(Request):
    def try_complete(self) -> bool:
        return False


def test_an_operation_that_is_lost_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_shares, "Request", Lost)
    with pytest.raises(CannotMeasure, match="operations that were never completed"):
        parts_of_purgatory(50, 1)


def test_the_command_shows_both_tables() -> None:
    result = CliRunner().invoke(main, ["--operations", "50", "--rounds", "1"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("interpreted, 50 operations, median of 1 rounds\n")
    assert result.output.count("| **together** |") == 2
