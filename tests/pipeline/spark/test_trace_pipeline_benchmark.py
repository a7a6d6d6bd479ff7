"""The benchmark of the engines measures what it says, and fails where a bound is not kept."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import pytest

from purgatory_bench import trace_pipeline
from purgatory_bench.trace_pipeline import (
    FILES,
    Measured,
    Processes,
    measure,
    measured_apart,
    missed,
    ratio,
    table,
    write_many_runs,
    write_one_run,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def measured(engine: str, cpu_seconds: float, mib: float = 100.0) -> Measured:
    return Measured(
        engine=engine,
        cpu_seconds=cpu_seconds,
        java_seconds=1.0,
        wall_seconds=cpu_seconds,
        worker_mib=mib,
        java_mib=500.0,
        events=1000,
        verdicts={"conforms": 1},
    )


FOUND = [
    measured("local", 10.0),
    measured("spark", 20.0),
    measured("spark", 45.0, mib=120.0),
    measured("local", 15.0, mib=900.0),
]


def test_the_ratio_is_the_median_over_neighbours() -> None:
    assert ratio(FOUND) == 2.5


def test_bounds_that_are_kept_are_not_told() -> None:
    assert missed({"one run": FOUND}) == []


def test_bounds_that_are_not_kept_are_told() -> None:
    slow = [*FOUND[:2], measured("spark", 46.0, mib=129.0), FOUND[3]]
    assert missed({"one run": slow}) == [
        "one run: Spark takes 2.53 times the processor time",
        "one run: a Python worker takes 129 MiB",
    ]


def test_the_table_tells_each_run_and_the_bounds() -> None:
    lines = table({"one run": FOUND}).splitlines()
    assert "| one run | local | 1,000 | 10 | 1 | 10 | 100 | 100 | 500 |" in lines
    assert lines[-1] == "| one run | 2.50 | 2.5 | 120 | 128 |"


def test_corpora_have_the_events_that_were_asked_for(tmp_path: Path) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    assert write_one_run(one, 1000) == Counter(conforms=1)
    verdicts = write_many_runs(many, 100_000)
    assert verdicts.total() == 200
    assert verdicts["conforms"] == 198
    for folder, events in ((one, 1000), (many, 100_000)):
        files = list(folder.iterdir())
        assert len(files) == FILES
        found = sum(len(file.read_bytes().splitlines()) for file in files)
        assert abs(found - events) <= 200


@linux
def test_processor_time_and_memory_of_children_are_seen() -> None:
    script = "data = bytearray(80 << 20); print(sum(range(6_000_000)), flush=True); input()"
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        processes = Processes()
        processes.look()
        child.communicate(b"\n")
    assert processes.cpu_seconds["java"] > 0.02
    assert processes.java_mib > 80


@linux
def test_the_local_engine_is_measured_and_its_verdicts_kept(tmp_path: Path) -> None:
    planted = write_one_run(tmp_path / "one", 500)
    found = measure("local", tmp_path / "one")
    assert (found.events, found.verdicts) == (500, dict(planted))
    assert found.cpu_seconds > 0 < found.worker_mib


@linux
@pytest.mark.slow
def test_other_verdicts_than_planted_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(trace_pipeline.__file__).parents[1])
    write_one_run(tmp_path / "one", 500)
    with pytest.raises(click.ClickException, match="planted was"):
        measured_apart("local", tmp_path / "one", Counter(diverges=1))
