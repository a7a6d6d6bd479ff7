"""The command ``purgatory trace record``: what it writes is whole, also where it is interrupted."""

import os
import signal
import subprocess
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_impl import Task
from purgatory_traces.commands.record import record
from purgatory_traces.recording.bundled_workloads import TimerWorkload
from purgatory_traces.recording.workload import Wish
from purgatory_traces.traces.sources import files_of
from tests.documentation.code_blocks import ROOT
from tests.pipeline.processes import PURGATORY, may_be_interrupted

from .recordings import LONG_S, lines, verdict

pytestmark = pytest.mark.verify

COMPONENTS = ["timer", "purgatory", "memory-pool"]


def recorded(folder: Path, *words: str) -> Path:
    """Run the command in this process; the file that it has written."""
    path = folder / "trace.jsonl"
    work = str(folder / "purgatory-work")
    done = CliRunner().invoke(record, [*words, "--out", str(path), "--work", work])
    assert (done.exit_code, done.exception) == (0, None)
    assert done.output.splitlines()[-1] == f"to check it: purgatory trace check {path}"
    return path


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_a_trace_of_the_bundled_implementation_conforms(component: str, tmp_path: Path) -> None:
    limits = ["--events", "5000", "--rate", "20000", "--lateness", "60000"]
    path = recorded(tmp_path, "bundled", "--component", component, *limits)
    found = verdict([path])
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.events >= 5000
    assert all_work_in(path)


def all_work_in(path: Path) -> bool:
    """Return whether each of the four threads has called."""
    threads = {line.get("thread", "") for line in lines(path)}
    return {"worker-1", "worker-2", "worker-3", "worker-4"} <= threads


def test_a_thread_that_starts_when_there_are_enough_lines_calls_once(tmp_path: Path) -> None:
    assert all_work_in(recorded(tmp_path, "bundled", "--events", "1"))


@pytest.fixture
def kafkas_builds(tmp_path: Path) -> Path:
    """The working folder's builds of the adapter, so that Maven runs once."""
    (tmp_path / "purgatory-work").mkdir()
    (ROOT / "purgatory-work" / "adapters").mkdir(parents=True, exist_ok=True)
    (tmp_path / "purgatory-work" / "adapters").symlink_to(ROOT / "purgatory-work" / "adapters")
    return tmp_path


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_a_trace_of_kafka_conforms(component: str, kafkas_builds: Path) -> None:
    limits = ["--events", "20000", "--rate", "20000", "--lateness", "60000"]
    found = verdict([recorded(kafkas_builds, "kafka", "--component", component, *limits)])
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.subject == "Apache Kafka 4.4.0"
    assert found.judged >= 20_000


LIMITS = ("--rate", "5000", "--lateness", "60000")


def interrupted(folder: Path, *words: str) -> tuple[int, str]:
    """Interrupt the command once it has written something."""
    child = subprocess.Popen(
        [PURGATORY, "trace", "record", *words, "--out", "trace.jsonl", *LIMITS],
        cwd=folder,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=may_be_interrupted,
    )
    deadline = time.monotonic() + 5 * LONG_S
    path = folder / "trace.jsonl"
    while not path.exists() or path.stat().st_size < 100_000:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=5 * LONG_S)
    return child.returncode, output


@pytest.mark.slow
def test_an_interrupt_ends_the_trace_cleanly(tmp_path: Path) -> None:
    code, output = interrupted(tmp_path, "bundled")
    assert code == 130
    assert "interrupted" in output
    assert verdict([tmp_path / "trace.jsonl"]).verdict == "conforms"


@pytest.mark.java
@pytest.mark.slow
def test_an_interrupt_ends_kafkas_trace_cleanly(kafkas_builds: Path) -> None:
    code, output = interrupted(kafkas_builds, "kafka")
    assert code == 130
    assert "interrupted" in output
    assert verdict([kafkas_builds / "trace.jsonl"]).verdict == "conforms"


@pytest.mark.parametrize("name", ["pool", "new/pool-1.2", "there"])
def test_a_name_without_a_known_suffix_is_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "there").mkdir()
    out = tmp_path / name
    for _ in range(2):
        done = CliRunner().invoke(record, ["bundled", "--events", "50", "--out", str(out)])
        assert done.exit_code == 0, done.output
        (path,) = files_of([out])
        assert path.endswith(".jsonl.gz")
        assert f"to check it: purgatory trace check {path}" in done.output
        Path(path).unlink()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("there.jsonl", r"there\.jsonl exists; choose another name"),
        ("there", "there exists; choose another name"),
        ("no/a.jsonl", "cannot be created: No such file"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path, name: str, said: str) -> None:
    for there in ("there.jsonl", "there"):
        (tmp_path / there).write_text("mine", encoding="utf-8")
    with pytest.raises(Problem, match=said) as problem:
        record.main(["bundled", "--out", str(tmp_path / name)], standalone_mode=False)
    assert problem.value.exit_code == 2
    assert {each.read_text(encoding="utf-8") for each in tmp_path.iterdir()} == {"mine"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["bundled", "--out", "a.jsonl", "--release", "4.0.0"], "of kafka alone"),
        (["kafka", "--out", "a.jsonl", "--rotate", "5"], "bundled implementation alone"),
        (["kafka", "--out", "a.jsonl", "--release", "3.9.1"], "before release 4.0"),
        (["netty", "--out", "a.jsonl"], "netty"),
        (["bundled"], "--out"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(words: list[str], problem: str) -> None:
    with pytest.raises(click.UsageError) as error:
        record.main(words, standalone_mode=False)
    assert problem in error.value.format_message()


def test_a_thread_of_the_workload_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: TimerWorkload, random: object) -> Task:
        raise OSError("mine")

    monkeypatch.setattr(TimerWorkload, "turn", fail)
    workload = TimerWorkload(Wish(lines=10), None)
    with pytest.raises(RuntimeError, match="has failed"):
        workload.run()
    workload.close()
