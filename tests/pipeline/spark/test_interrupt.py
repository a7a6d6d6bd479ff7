"""Ctrl-C at a real process: nothing is left, and what was there before is whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from purgatory_conformance.problems import EXIT_INTERRUPTED
from purgatory_traces.traces.synthetic import write_corpus
from tests.pipeline.processes import may_be_interrupted

pytestmark = [
    pytest.mark.verify,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="needs signals"),
]

PURGATORY = [sys.executable, "-c", "from purgatory_conformance.command_line import main; main()"]
SECONDS_TO_START = 600
SECONDS_TO_STOP = 300


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while not any(folder.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, f"no {pattern}"
        time.sleep(0.05)


def are_gone(group: int) -> bool:
    """Return whether a group of processes has ended, or does in a moment."""
    until = time.monotonic() + SECONDS_TO_STOP
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_ctrl_c_leaves_the_previous_result_and_no_process(tmp_path: Path) -> None:
    small, large, out, scratch = (tmp_path / name for name in ("small", "large", "out", "scratch"))
    write_corpus(small, 3, 60, faulty=0)
    write_corpus(large, 3, 20_000, faulty=0)
    scratch.mkdir()
    check = [*PURGATORY, "trace", "check", "--out", str(out)]
    subprocess.run([*check, "--engine", "local", str(small)], check=True, capture_output=True)
    before = contents(out)

    process = subprocess.Popen(
        [*check, "--engine", "spark", "--master", "local[1]", str(large)],
        env={
            **os.environ,
            "TMPDIR": str(scratch),
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",  # starts sooner, is slower later
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=may_be_interrupted,
    )
    try:
        wait_for(out, "staging-*/scratch/spark/*/_temporary", process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the Java machine, too
        said = process.communicate(timeout=SECONDS_TO_STOP)
    finally:
        process.kill()
        process.wait()

    assert (process.returncode, said[0]) == (EXIT_INTERRUPTED, "")
    assert said[1].split("\n", 1)[0] == "engine spark: as asked for"
    assert said[1].split("\n", 1)[1].strip() == "purgatory: interrupted"
    assert contents(out) == before
    assert list(scratch.iterdir()) == []
    assert are_gone(process.pid)
