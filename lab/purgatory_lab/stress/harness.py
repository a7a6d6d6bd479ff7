"""The harness of stress runs: an interpreter hard on threads, and a watch over them.

A *body* is the program of a thread: a generator that yields after each step. The steps are counted,
so that threads that wait for each other are told from threads that are slow: nothing has gone on
for so long, and here is where each of them stands.
"""

from __future__ import annotations

import gc
import logging
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType
from typing import Final

SWITCH_INTERVAL_S = 1e-6
"""The time that a thread runs before another may, s; the default is 5,000 times as long."""

COLLECTOR_THRESHOLDS = (40, 4, 4)
"""The garbage collector looks after so many new objects; the default of the first is 700."""

PATIENCE_S = 60.0
"""The longest time without progress, s; only a round that hangs reaches it."""

NOISE: Final = 0.01
"""The share of all calls at which a thread gives way, besides."""

Body = Callable[[], Iterator[None]]


_dice = random.Random(0).random


class Kind(Enum):
    """The kind of a fault after a round."""

    TWICE = "completed twice"
    LOST = "completion lost"
    TIME_OUT_LOST = "time-out lost"
    RESULT = "wrong result"
    COUNT = "wrong count"
    ORDER = "wrong order"
    LEAK = "leaked"
    RAISED = "raised"
    STUCK = "stuck"


@dataclass(frozen=True)
class Fault:
    """A fault that a round has found, in words that name the expected and the observed."""

    kind: Kind
    words: str

    def __str__(self) -> str:
        """Return the kind, then the words."""
        return f"{self.kind.value}: {self.words}"


@dataclass
class Round:
    """The counts and the findings of a round.

    Attributes:
        counts: How often each thing was done, by its name.
        findings: The faults found; empty where all is well. Once something is, locks may be held
            for ever.
    """

    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Fault] = field(default_factory=list)

    def find(self, kind: Kind, words: str) -> None:
        """Note that something is wrong; any thread may."""
        self.findings.append(Fault(kind, words))

    def expect(self, kind: Kind, name: str, expected: object, seen: object) -> None:
        """Note a finding where two values differ."""
        if expected != seen:
            self.find(kind, f"{name}: expected {expected}, seen {seen}")


@contextmanager
def harsh_interpreter() -> Iterator[None]:
    """Let threads interrupt each other all the time, and the collector run all the time.

    A thread may be interrupted at each call, but waking another one takes longer than a call does.
    So threads that are started in here give way of their own accord, now and then, at a call. What
    exists already is kept out of the collector's way: it would make every collection long.
    """
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    threading.setprofile(_give_way)
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        threading.setprofile(None)
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _give_way(_frame: FrameType, event: str, _argument: object) -> None:
    """Let another thread run, at one call in many: there the interpreter might do so anyway."""
    if event == "call" and _dice() < NOISE:
        time.sleep(0)


def run_together(bodies: Mapping[str, Body], result: Round, patience_s: float) -> bool:
    """Run all bodies at once, each in a thread of its own name.

    Returns:
        Whether all threads have ended; their exceptions, and the stacks of stuck threads, are added
        to the result.
    """
    steps = dict.fromkeys(bodies, 0)
    start = threading.Barrier(len(bodies))

    def guarded(name: str, body: Body) -> None:
        start.wait()
        try:
            for _ in body():
                steps[name] += 1
        except BaseException:
            result.find(Kind.RAISED, f"in thread {name}: {traceback.format_exc()}")

    # Daemons: a program with threads that are stuck for ever must still come to its end.
    threads = [
        threading.Thread(target=guarded, args=(name, body), name=name, daemon=True)
        for name, body in bodies.items()
    ]
    for thread in threads:
        thread.start()
    if _joined(threads, lambda: sum(steps.values()), patience_s):
        return True
    result.find(Kind.STUCK, f"nothing went on for {patience_s:g} s\n{stacks(_others())}")
    return False


def _joined(
    threads: list[threading.Thread], progress: Callable[[], int], patience_s: float
) -> bool:
    """Wait for threads as long as something goes on; whether all have ended."""
    seen, since = progress(), time.monotonic()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(0.02)
        now = progress()
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > patience_s:
            return not any(thread.is_alive() for thread in threads)
    return True


def wait_until(condition: Callable[[], bool], patience_s: float) -> bool:
    """Wait for a condition that other threads make true; whether it has become true."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def stacks(threads: list[threading.Thread]) -> str:
    """Return the stack of each living thread."""
    frames: dict[int, FrameType] = sys._current_frames()
    parts = []
    for thread in threads:
        frame = frames.get(thread.ident or 0)
        if frame is not None:
            parts.append(f"thread {thread.name}:\n{''.join(traceback.format_stack(frame))}")
    return "\n".join(parts)


def _others() -> list[threading.Thread]:
    here = threading.current_thread()
    return [thread for thread in threading.enumerate() if thread is not here]


class LogErrors(logging.Handler):
    """Counts logged lines, and keeps no record: a traceback in it would keep operations alive.

    Attributes:
        of_tasks: How many failures of timer tasks.
        others: Every other line of the level of warnings or above.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.of_tasks = 0
        self.others: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record by its kind."""
        if " the task %s failed" in str(record.msg):
            self.of_tasks += 1
        else:
            self.others.append(self.format(record))


@contextmanager
def counted_log_errors() -> Iterator[LogErrors]:
    """Count the log records of the implementation, and show none."""
    errors = LogErrors()
    logger = logging.getLogger("purgatory")
    propagate, disabled = logger.propagate, logger.disabled
    logger.propagate = logger.disabled = False
    logger.addHandler(errors)
    try:
        yield errors
    finally:
        logger.removeHandler(errors)
        logger.propagate, logger.disabled = propagate, disabled


_OURS = ("purgatory_impl.", "purgatory_lab.stress.operations")


def impl_objects() -> Counter[str]:
    """Return how many objects of each class of the implementation and of a round there are now."""
    gc.collect()
    names = (f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    return Counter(name for name in names if name.startswith(_OURS))


class Before:
    """The threads and the objects of the implementation that existed before a round."""

    def __init__(self) -> None:
        """Note the living threads and objects."""
        self.threads = set(threading.enumerate())
        self.objects = impl_objects()


def judge_leaks(gone: Mapping[str, Callable[[], object]], before: Before, result: Round) -> None:
    """Find threads that should have ended, and objects that should be gone.

    Args:
        gone: Weak references to objects that must be gone once the collector has run.
        before: The threads and objects that existed before the round.
        result: Receives what is wrong.
    """
    if alive := [each for each in threading.enumerate() if each not in before.threads]:
        result.find(Kind.LEAK, f"threads have not ended:\n{stacks(alive)}")
    left = impl_objects() - before.objects
    # The records of operations are kept on purpose.
    del left["purgatory_lab.stress.operations.Record"]
    if left:
        result.find(Kind.LEAK, ", ".join(f"{count} {name}" for name, count in left.items()))
    for name, reference in gone.items():
        if reference() is not None:
            result.find(Kind.LEAK, f"{name} is still there")
