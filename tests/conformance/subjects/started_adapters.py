"""Adapters that misbehave in one way each, and one that does not, as processes of a test."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.subject import Subject, SubjectFailure
from purgatory_spec.operations import Add, Advance, Operation
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import Component, TimerConfiguration

MISBEHAVING = Path(__file__).with_name("misbehaving_adapter.py")
STEPS: tuple[Operation, ...] = (Add("a", 1), Add("b", 9), Advance(5), Add("c", 1))
AT_ADVANCE = '{"request":"do","id":5,"operation":{"op":"advance","to_ms":5}}'
GOOD_OUTCOMES = [
    Outcome(observed={"size": 1}),
    Outcome(observed={"size": 2}),
    Outcome(events=(ran("a"),), observed={"size": 1}),
    Outcome(observed={"size": 2}),
]
LONG_S = 300.0
"""A limit that only a test that hangs reaches."""


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until it is so; a little later is early enough on a busy machine."""
    deadline = time.monotonic() + LONG_S
    while not is_so():
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)


class Adapters:
    """Starts adapters, and knows afterwards which of their processes are left."""

    def __init__(self, note: Path) -> None:
        self.note = note
        self.subjects: list[ChildProcessSubject] = []

    def start(
        self, mode: str, *, time_limit_seconds: float = LONG_S, look_ahead: int = 32
    ) -> ChildProcessSubject:
        subject = ChildProcessSubject(
            (sys.executable, "-S", str(MISBEHAVING), mode),
            name=mode,
            time_limit_seconds=time_limit_seconds,
            start_limit_seconds=0 if mode == "hang at hello" else LONG_S,
            environment={"PURGATORY_TEST_PIDS": str(self.note)},
            look_ahead=look_ahead,
        )
        self.subjects.append(subject)
        return subject

    def heap_timer(self, look_ahead: int = 32) -> ChildProcessSubject:
        folder = self.note.parent / "heap-timer"
        write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "heap-timer"), folder)
        subject = ChildProcessSubject(
            (sys.executable, "-S", "adapter.py"),
            name="heap timer",
            working_folder=folder,
            look_ahead=look_ahead,
        )
        self.subjects.append(subject)
        return subject

    @property
    def processes(self) -> list[int]:
        if not self.note.exists():
            return []
        return [int(line) for line in self.note.read_text(encoding="ascii").split()]

    def assert_none_left(self) -> None:
        """Neither process nor thread."""
        eventually(lambda: not any(map(is_running, self.processes)) and not pipe_threads())


def pipe_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "adapter pipe"]


def is_running(pid: int) -> bool:
    """Decide whether a process runs; one that only waits to be collected does not."""
    if sys.platform == "win32":
        command = ("tasklist", "/FI", f"PID eq {pid}", "/NH")
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        return str(pid) in listed.stdout
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    listed = subprocess.run(
        ("ps", "-o", "stat=", "-p", str(pid)), capture_output=True, text=True, check=False
    )
    return listed.stdout.strip()[:1] not in ("", "Z")


def run_until_failure(subject: Subject) -> tuple[list[Outcome], SubjectFailure]:
    """The outcomes of one case, and the failure that ends it."""
    outcomes: list[Outcome] = []
    with pytest.raises(SubjectFailure) as caught:
        run_case(subject, outcomes)
    return outcomes, caught.value


def run_case(subject: Subject, outcomes: list[Outcome]) -> None:
    subject.new("case", TimerConfiguration())
    outcomes.extend(subject.do_all(STEPS))
    subject.end()
