"""The command ``purgatory trace record``: what it writes is whole, also where it is interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from purgatory_impl import TimerTask
from purgatory_pipeline.recording.bundled_workloads import TimerWorkload
from purgatory_pipeline.recording.workload import Wish
from tests.documentation.code_blocks import ROOT

from .recordings import lines, verdict

PURGATORY = Path(sys.executable).with_name("purgatory")
COMPONENTS = ["timer", "purgatory", "memory-pool"]


def command(*words: str) -> list[str]:
    return [str(PURGATORY), "trace", "record", *words]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), cwd=folder, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_a_trace_of_the_bundled_implementation_conforms(component: str, tmp_path: Path) -> None:
    done = run(
        tmp_path,
        *("bundled", "--component", component, "--out", "trace.jsonl"),
        *("--events", "5000", "--rate", "20000", "--lateness", "5000"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "to check it: purgatory trace check trace.jsonl"
    found = verdict([tmp_path / "trace.jsonl"])
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.events >= 5000
    threads = {line.get("thread", "") for line in lines(tmp_path / "trace.jsonl")}
    assert {"worker-1", "worker-2", "worker-3", "worker-4"} <= threads


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
    done = run(
        kafkas_builds,
        *("kafka", "--component", component, "--out", "trace.jsonl"),
        *("--events", "20000", "--rate", "20000", "--lateness", "5000"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = verdict([kafkas_builds / "trace.jsonl"])
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.subject == "Apache Kafka 4.4.0"
    assert found.judged >= 20_000


def interrupted(folder: Path, *words: str) -> tuple[int, str]:
    """Interrupt the command once it has written something."""
    child = subprocess.Popen(
        command(*words, "--out", "trace.jsonl", "--rate", "5000", "--lateness", "5000"),
        cwd=folder,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    deadline = time.monotonic() + 100
    path = folder / "trace.jsonl"
    while not path.exists() or path.stat().st_size < 100_000:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=60)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["bundled", "--out", "there.jsonl"], 2, "there.jsonl exists"),
        (["bundled", "--out", "nowhere/trace.jsonl"], 2, "cannot be created"),
        (["bundled", "--out", "a.jsonl", "--release", "4.0.0"], 2, "of kafka alone"),
        (["kafka", "--out", "a.jsonl", "--rotate", "5"], 2, "bundled implementation alone"),
        (["kafka", "--out", "a.jsonl", "--release", "3.9.1"], 2, "before release 4.0"),
        (["netty", "--out", "a.jsonl"], 2, "netty"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], code: int, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "there.jsonl").touch()
    done = run(tmp_path, *words)
    assert done.returncode == code
    assert problem in done.stderr


def test_a_thread_of_the_workload_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: TimerWorkload, random: object) -> TimerTask:
        raise OSError("mine")

    monkeypatch.setattr(TimerWorkload, "turn", fail)
    workload = TimerWorkload(Wish(lines=10), None)
    with pytest.raises(RuntimeError, match="has failed"):
        workload.run()
    workload.close()
