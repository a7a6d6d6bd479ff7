"""The harness of stress runs: an interpreter hard on threads, and a watch over them.

A *body* is the program of a thread: a generator that yields after each step. The steps are counted,
so that threads that wait for each other are told from threads that are slow: nothing has gone on
for so long, and here is where each of them stands.
"""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType
from typing import Final

SWITCH_INTERVAL_S = 1e-6
"""How long a thread runs until another may; the interpreter's own default is 5,000 times that."""

COLLECTOR_THRESHOLDS = (40, 4, 4)
"""The garbage collector looks after so many new objects; the default of the first is 700."""

PATIENCE_S = 60.0
"""How long nothing may go on, seconds; only what hangs reaches this."""

NOISE: Final = 0.01
"""At what share of all calls a thread gives way, besides."""

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
class Finding:
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
    findings: list[Finding] = field(default_factory=list)

    def find(self, kind: Kind, words: str) -> None:
        """Note that something is wrong; any thread may."""
        self.findings.append(Finding(kind, words))

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


def new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    """Return the living threads that are not among ``before``."""
    return [thread for thread in threading.enumerate() if thread not in before]
