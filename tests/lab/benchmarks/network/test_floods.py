"""``purgatory bench floods``: processes, the table, and its verdicts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_lab.benchmarks.bench.bench_command import bench
from purgatory_lab.benchmarks.network.command import certificates_in
from purgatory_lab.benchmarks.network.floods import ATTACKS, Pings, measure, table_of

pytestmark = pytest.mark.verify


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_pings_are_answered_beside_an_attack(attack: str, tmp_path: Path) -> None:
    row = measure(attack, 2, 0.3, certificates_in(tmp_path))
    assert (row.attack, row.attackers) == (attack, 2)
    assert row.pings > 1
    assert 0 < row.median_ms <= row.worst_ms
    has_data = attack in ("bytes", "mixed", "long")
    assert row.closed == (0 if has_data else 2)


@pytest.mark.slow
def test_the_command_measures_what_it_is_asked_for() -> None:
    result = CliRunner().invoke(
        bench, ["floods", "--seconds", "0.2", "--attack", "empty", "--attackers", "1"]
    )
    assert result.exit_code == 0, result.output
    head, _, *rows = result.stdout.splitlines()[-4:]
    assert head.startswith("| attack | attackers | pings |")
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| undisturbed", "0"],
        ["| empty records", "1"],
    ]


def test_a_verdict_compares_with_the_undisturbed_row_above() -> None:
    quiet = Pings("", 0, 100, 1.0, 2.0, 0, 0)
    rows = [
        quiet,
        Pings("bytes", 1, 100, 2.0, 250.0, 0, 0),
        Pings("bytes", 10, 100, 2.1, 3.0, 0, 0),
        Pings("bytes", 50, 100, 1.0, 251.0, 0, 0),
    ]
    verdicts = [line.split(" | ")[-1].strip("| ") for line in table_of(rows).splitlines()[2:]]
    assert verdicts == ["", "met", "**missed**", "**missed**"]
