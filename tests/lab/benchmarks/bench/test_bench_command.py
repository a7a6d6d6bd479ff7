"""``purgatory bench``, as it is used."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_lab.benchmarks.bench.bench_command import bench
from purgatory_lab.benchmarks.bench.results import read_results
from purgatory_lab.documents import write_document

from .peers import SCRIPT
from .test_goals import expiring

pytestmark = pytest.mark.verify


def said(*words: str | Path) -> Result:
    return CliRunner().invoke(bench, [*map(str, words)])


@pytest.mark.slow
def test_python_peers_are_measured_and_the_report_follows_from_the_file(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    sizes = ("--pending", "50", "--operations", "100", "--rounds", "2", "--warm-up", "1")
    peers = ("--peer", "pure", "--peer", "heapq")
    result = said(
        *("--quick", *sizes, *peers, "--only", "hot", "--only", "expire/virtual"),
        *("--out", out, "--work", tmp_path / "work"),
    )
    assert result.exit_code == 0, result.output
    assert "| pure | 0.1.0 | CPython" in result.stdout
    assert "### `hot/virtual`: add and cancel at once; the caller leads the clock" in result.stdout
    assert "| heapq | " in result.stdout
    assert "(compiled: left out of this run)" in result.stdout
    file = read_results(out)
    assert file.options["rounds"] == 2
    assert [each.name for each in file.settings] == [
        "hot/virtual, 50",
        "expire/virtual, 50",
        "hot/system, 50",
    ]
    assert len(file.samples) == 3 * 3 * 2
    assert all((each.answer.thread_cpu_ns or 0) > 0 for each in file.samples)
    again = said("report", out)
    assert again.stdout == result.stdout
    assert (tmp_path / "plots" / "timer-virtual.svg").is_file()


@pytest.mark.slow
def test_the_workload_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "workload.json"
    result = said(
        *("workload", "--rate", "1000", "--case", "low", "--keys", "3", "--requests", "100"),
        *("--rounds", "1", "--warm-up", "0", "--peer", "pure", "--peer", "old-design-pure"),
        *("--room", "100", "--out", out, "--work", tmp_path / "work"),
    )
    assert result.exit_code == 0, result.output
    assert "### Case low (few time out), 3 keys\n" in result.stdout
    assert "### Case low, 3 keys, with a limit on resident memory" in result.stdout
    file = read_results(out)
    points = [(each.setting.partition(",")[0], each.peer) for each in file.samples]
    kinds = ("workload", "memory-tight")
    assert sorted(points) == sorted((k, p) for k in kinds for p in ("pure", "old-design-pure"))
    for each in file.samples:
        detail = each.answer.detail
        assert int(detail["completed"] or 0) + int(detail["expired"] or 0) == 100
    assert [(each.peer, each.exceeded) for each in file.curves] == [
        ("pure", False),
        ("old-design-pure", False),
    ]


@pytest.mark.slow
def test_a_peer_of_ones_own_is_measured(tmp_path: Path) -> None:
    command = f"{sys.executable} -S {SCRIPT}"
    result = said(
        *("--with", "mine", f"{command} well 125", "--with", "wet", f"{command} error"),
        *("--with", "nobody", str(tmp_path / "nobody")),
        *("--peer", "mine", "--peer", "wet", "--peer", "nobody", "--only", "fifo/virtual"),
        *("--pending", "10", "--rounds", "2", "--warm-up", "0"),
        *("--out", tmp_path / "bench.json", "--work", tmp_path / "work"),
    )
    assert result.exit_code == 0, result.output
    assert "| mine | 125 [125 to 125] | - |" in result.stdout
    assert "- not measured: wet, 10: it is raining" in result.stdout
    assert "| nobody | not measured: it cannot be started: No such file" in result.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--peer", "nobody"), "there is no peer 'nobody'; there are: kafka, netty"),
        (("--with", "go", "true"), "there is a peer 'go' already"),
        (("--only", "nothing"), "there is no measure 'nothing'; there are: hot/virtual"),
        (("--checkout", "."), "is no checkout"),
        (("workload", "--peer", "netty"), "there is no peer 'netty'"),
        (("--quick", "workload"), "put the options of `bench workload` behind it"),
        (("report", "nothing.json"), "No such file"),
    ],
)
def test_a_wrong_word_is_a_problem(
    words: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = said(*words)
    assert isinstance(result.exception, Problem)
    assert problem in str(result.exception)
    assert result.exception.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_gate_ends_with_1_and_without_it_a_miss_is_a_finding(tmp_path: Path) -> None:
    missed, met = tmp_path / "missed.json", tmp_path / "met.json"
    write_document(missed, expiring((500.0, 500.0)))
    write_document(met, expiring((50.0, 50.0)))
    assert said("report", missed).exit_code == 0
    assert "**missed**" in said("report", missed).stdout
    gated = said("report", missed, "--gate")
    assert gated.exit_code == 1
    assert "gate: missed: add a timer and let it expire" in gated.stderr
    assert said("report", met, "--gate").exit_code == 0
