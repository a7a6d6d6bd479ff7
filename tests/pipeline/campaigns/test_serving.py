"""A subject behind ``serving`` answers as it does in this process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.subjects.subject import Subject, SubjectFailure
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.isolation import Forbearing, SubjectChoice
from purgatory_spark.campaigns.work import judged
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.profiles import TimerConfiguration

from .judging_runs import HERE

pytestmark = pytest.mark.verify


@contextmanager
def served(word: str, tmp_path: Path, seconds: float = 300.0) -> Iterator[Subject]:
    choice = SubjectChoice(word, work=str(tmp_path), folder=str(HERE), seconds=seconds)
    subject = choice.isolated(served=True)
    try:
        yield subject
    finally:
        subject.close()


WORDS = ["bundled", "bundled-inline", "bundled-proposal", "mutant:rounds-up"]


@pytest.mark.parametrize("word", WORDS)
def test_what_is_served_declares_and_answers_the_same(word: str, tmp_path: Path) -> None:
    here = open_subject(word, work_folder=tmp_path).subject
    with served(word, tmp_path) as there:
        assert there.profiles == here.profiles
        assert there.implementation == here.implementation
        for component, profile in here.profiles.items():
            drawing = Drawing(component, profile, seed=3, steps=50)
            for number in range(8):
                case = drawing.draw(number)
                asked = f"c{number}", case.configuration, case.operations
                one, other = run_case(here, *asked), run_case(there, *asked)
                assert one.steps == other.steps
                assert judged(one) == judged(other)
    here.close()


def test_it_ends_when_its_starter_is_gone_though_the_subject_loops(tmp_path: Path) -> None:
    words = f"""
import sys
from purgatory_spark.campaigns.isolation import SubjectChoice
from purgatory_spec.operations import Advance
from purgatory_spec.profiles import TimerConfiguration
subject = SubjectChoice("bad_subjects:loops", work={str(tmp_path)!r}).isolated(served=True)
subject.new("a", TimerConfiguration(wheel_size=3))
print(subject._client.process.process_id, flush=True)
list(subject.do_all([Advance(1)]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", words], cwd=HERE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        child = int(starter.stdout.readline())
        try:
            os.kill(child, 0)  # it is there
            starter.kill()
            starter.wait()
            assert _gone(child, seconds=300)
        finally:
            if not _gone(child, seconds=0):
                os.kill(child, signal.SIGKILL)


def _gone(process: int, seconds: float) -> bool:
    """Return whether a process that is not our child is gone, or only waits to be reaped."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2]
        except OSError:
            return True
        if state.split()[0] == "Z":
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)


def test_forbearance_ends(tmp_path: Path) -> None:
    with served("bad_subjects:sleeps", tmp_path, seconds=3) as subject:
        asked = Forbearing(subject, seconds=2.5)
        good, bad = TimerConfiguration(), TimerConfiguration(wheel_size=3)
        operations: list[Operation] = [Advance(1)]
        assert run_case(asked, "a", good, operations).failure is None
        hung = run_case(asked, "b", bad, operations).failure
        assert hung is not None
        assert "no reply within 3 s" in str(hung)
        with pytest.raises(SubjectFailure, match="is asked no more"):
            asked.new("c", good)
