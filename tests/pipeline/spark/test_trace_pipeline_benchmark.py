"""The benchmark of the engines measures what it says, and fails where a bound is not kept."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
import pytest

from purgatory_lab.benchmarks import trace_pipeline
from purgatory_lab.benchmarks.trace_pipeline import (
    CORPORA,
    EVEN,
    FILES,
    OF_SPARK_ALONE,
    SKEWED,
    Measured,
    Processes,
    fixed,
    line,
    measure,
    measured_apart,
    missed,
    ratio,
    skew,
    smaller,
    text_of,
    write_many_runs,
    write_one_run,
)
from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, VerdictRow

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def measured(
    engine: str, cpu_seconds: float, events: int = 1000, mib: float = 100.0, wall: float = 10.0
) -> Measured:
    return Measured(
        engine=engine,
        cpu_seconds=cpu_seconds,
        java_seconds=1.0,
        wall_seconds=wall,
        start_seconds=2.0,
        worker_mib=mib,
        java_mib=500.0,
        events=events,
        verdicts={"conforms": 1},
    )


def measured_in_order(local: float, spark: float, events: int) -> list[Measured]:
    seconds = (local - 1, spark - 2, spark + 2, local + 1)
    engines = ("local", "spark", "spark", "local")
    return [measured(*each, events=events) for each in zip(engines, seconds, strict=True)]


LARGER, SMALLER = measured_in_order(50, 76, 5000), measured_in_order(10, 30, 1000)
FOUND = {
    **dict.fromkeys(CORPORA, LARGER),
    **{smaller(name): SMALLER for name in CORPORA},
    SKEWED: [measured("spark", 1.0, wall=12.0), measured("spark", 1.0, wall=15.0, mib=120.0)],
    EVEN: [measured("spark", 1.0, wall=12.0), measured("spark", 1.0, wall=12.0)],
}


def test_what_is_the_same_for_both_sizes_is_no_part_of_the_ratio() -> None:
    assert line(LARGER, SMALLER, "local") == (0, 0.01)
    assert ratio(LARGER, SMALLER) == pytest.approx(46 / 40)


def test_the_fixed_cost_is_what_no_event_takes_by_the_clock() -> None:
    assert fixed(slower(LARGER, 30.0), slower(SMALLER, 14.0)) == 10.0


def slower(found: list[Measured], wall: float) -> list[Measured]:
    return [replace(each, wall_seconds=wall) for each in found]


def test_the_start_is_no_part_of_the_skew() -> None:
    assert skew(FOUND) == 1.15


def test_bounds_that_are_kept_are_not_told() -> None:
    assert missed(FOUND) == []


def test_bounds_that_are_not_kept_are_told() -> None:
    slow = {
        **FOUND,
        "one run": slower(measured_in_order(50, 78, 5000), 20.0),
        smaller("one run"): slower(SMALLER, 15.0),
        SKEWED: [measured("spark", 1.0, wall=16.0, mib=129.0)],
    }
    assert missed(slow) == [
        "one run: marginal cost of Spark to local: 1.2",
        "one run: fixed cost of Spark, s by the clock: 13.8",
        f"{SKEWED} to {EVEN}: time by the clock: 1.4",
        "a Python worker, MiB: 129",
    ]


def test_the_table_tells_each_run_and_the_bounds() -> None:
    lines = text_of(FOUND).splitlines()
    assert "| one run | local | 5,000 | 49 | 1 | 10 | 102 | 100 | 500 |" in lines
    assert lines[-1] == "| a Python worker, MiB | 120 | 128 |"


def test_corpora_have_the_events_that_were_asked_for(tmp_path: Path) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    assert write_one_run(one, 1000) == Counter(conforms=1)
    verdicts = write_many_runs(many, 100_000)
    assert verdicts.total() == 200
    assert verdicts["conforms"] == 198
    for folder, events in ((one, 1000 + 2 * (FILES - 1)), (many, 100_000)):
        files = list(folder.iterdir())
        assert len(files) == FILES
        found = sum(len(file.read_bytes().splitlines()) for file in files)
        assert abs(found - events) <= 200


@pytest.mark.parametrize("name", OF_SPARK_ALONE)
def test_of_a_corpus_for_spark_alone_every_run_conforms(tmp_path: Path, name: str) -> None:
    planted = OF_SPARK_ALONE[name](tmp_path / "corpus", 6000)
    rows = list(check_locally([tmp_path / "corpus"]))
    assert not [row for row in rows if isinstance(row, QuarantineRow)]
    found = [row for row in rows if isinstance(row, VerdictRow)]
    assert Counter(row.verdict for row in found) == planted
    assert max(row.events for row in found) == (4814 if name == SKEWED else 600)


@linux
@pytest.mark.verify
@pytest.mark.parametrize("kind", ["java", "python"])
def test_processor_time_and_memory_of_children_are_seen(kind: str) -> None:
    script = "data = bytearray(80 << 20); print(sum(range(6_000_000)), flush=True); input()"
    command = [sys.executable, "-c", script, *(["pyspark.worker"] if kind == "python" else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        processes = Processes(os.getpid())
        processes.look()
        child.communicate(b"\n")
    assert processes.cpu_seconds[kind] > 0.02
    assert (processes.worker_mib if kind == "python" else processes.java_mib) > 80


@linux
@pytest.mark.verify
@pytest.mark.parametrize("looks_before", [True, False])
def test_a_worker_that_has_ended_counts_though_its_parent_ignores_its_end(
    looks_before: bool,
) -> None:
    """Count it where it was seen before; nobody has seen the control."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()
        processes = Processes(parent.pid)
        if looks_before:
            processes.look()
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        parent.stdout.readline()
        processes.look()
        parent.communicate(b"\n")
    used = sum(processes.cpu_seconds.values())
    assert (used > USED_S / 2) is looks_before


USED_S = 1.0
PARENT = f"""
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
told, tell = os.pipe()
ending, end = os.pipe()
if not os.fork():
    os.close(end)
    while time.process_time() < {USED_S}:
        pass
    os.write(tell, b"1")
    os.read(ending, 1)
    os._exit(0)
os.read(told, 1)
print("used", flush=True)
sys.stdin.readline()
os.write(end, b"1")
try:
    os.wait()
except ChildProcessError:
    print("ended", flush=True)
sys.stdin.readline()
"""


@linux
@pytest.mark.verify
@pytest.mark.parametrize("engine", ["local", "tasks"])
def test_an_engine_without_java_is_measured_and_its_verdicts_kept(
    tmp_path: Path, engine: str
) -> None:
    planted = write_one_run(tmp_path / "one", 500)
    found = measure(engine, tmp_path / "one")
    assert (found.events, found.verdicts) == (514, dict(planted))
    assert found.cpu_seconds > 0 < found.worker_mib


@linux
@pytest.mark.verify
@pytest.mark.slow
def test_other_verdicts_than_planted_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(trace_pipeline.__file__).parents[1])
    write_one_run(tmp_path / "one", 500)
    with pytest.raises(click.ClickException, match="planted was"):
        measured_apart("local", tmp_path / "one", Counter(diverges=1))
