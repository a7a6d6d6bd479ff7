"""Timers that do not always return, for tests; ``hanging_subjects:NAME`` is a subject's word."""

import threading
import time
from collections.abc import Callable

from purgatory_conformance.subjects.bundled.timer import PROFILE, TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_judge.components import narrowed
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Configuration, TimerConfiguration

Misdeed = Callable[["Hanging", Operation], None]


class Hanging(TimerInstance):
    """The bundled timer, which does something before each operation."""

    misdeed: Misdeed

    def __init__(self, configuration: Configuration) -> None:
        """Make a timer to which nothing has been added."""
        made_with = narrowed(configuration, TimerConfiguration)
        super().__init__(made_with)
        self.tick_ms = made_with.tick_ms
        self.now_ms = made_with.start_ms
        self.added: list[str] = []

    def do(self, operation: Operation) -> Outcome:
        """Do what the misdeed does, then the operation."""
        if isinstance(operation, Add):
            self.added.append(operation.task)
        type(self).misdeed(self, operation)
        return super().do(operation)


def hanging(misdeed: Misdeed) -> InProcessSubject:
    """Return the subject of a misdeed."""
    return subject_of(type("Hanging", (Hanging,), {"misdeed": misdeed}), PROFILE)


def waits_for_a_lock() -> InProcessSubject:
    """Wait for a lock in the cancel of a task beside another."""

    def wait(timer: Hanging, operation: Operation) -> None:
        if isinstance(operation, Cancel) and operation.task in timer.added[1:]:
            held = threading.Lock()
            held.acquire()
            held.acquire()

    return hanging(wait)


def keeps_the_process() -> InProcessSubject:
    """Wait for a thread, which is no daemon and waits for a lock, in such a cancel."""

    def wait(timer: Hanging, operation: Operation) -> None:
        if isinstance(operation, Cancel) and operation.task in timer.added[1:]:
            held = threading.Lock()
            held.acquire()
            waiting = threading.Thread(target=held.acquire, daemon=False)
            waiting.start()
            waiting.join()

    return hanging(wait)


def loops() -> InProcessSubject:
    """Loop for ever in the cancel of a task beside another."""

    def loop(timer: Hanging, operation: Operation) -> None:
        while isinstance(operation, Cancel) and operation.task in timer.added[1:]:
            pass

    return hanging(loop)


def walks() -> InProcessSubject:
    """Take a millisecond for each 100 ticks that an advance passes: right, but slow."""

    def walk(timer: Hanging, operation: Operation) -> None:
        if isinstance(operation, Advance) and operation.to_ms > timer.now_ms:
            time.sleep((operation.to_ms - timer.now_ms) // timer.tick_ms / 100_000)
            timer.now_ms = operation.to_ms

    return hanging(walk)


def crowded() -> InProcessSubject:
    """Take the longer for an add the more has been added, by the square: right, but slow."""

    def look_through(timer: Hanging, operation: Operation) -> None:
        if isinstance(operation, Add):
            time.sleep(len(timer.added) ** 2 / 5000)

    return hanging(look_through)
