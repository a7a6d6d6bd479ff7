# SPDX-License-Identifier: CC0-1.0
"""Two timers of Python's standard library, unmodified, as subjects in this process."""

import asyncio
import platform
import sched
from collections.abc import Callable

from scripted_timer import FEATURES, SevereFailure, Timer, UsersFailure, VirtualClockTimer, subject

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Configuration,
    Feature,
    LargerDelay,
    Observable,
    Rounding,
    SameTickOrder,
    SevereThrow,
    TimerProfile,
)

SCHED = TimerProfile(
    rounding=Rounding.EXACT,  # no ticks: times are compared as they are
    same_tick_order=SameTickOrder.FIFO,  # events have a sequence number, since Python 3.10
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    largest_delay_ms=2**63 - 1,
    features=FEATURES | {Feature.INT64, Feature.SCRIPT_ADVANCE},
    observables=frozenset({Observable.SIZE}),
)
ASYNCIO = TimerProfile(
    rounding=Rounding.EXACT,  # but for the clock's resolution, 1 ns, within which it is early
    larger_delay=LargerDelay.NOT_OFFERED,  # any number is a delay
    severe_throw=SevereThrow.AS_ORDINARY,  # all but requests to leave end in the exception handler
    features=FEATURES,  # a loop that runs cannot be run: no SCRIPT_ADVANCE
    observables=frozenset({Observable.SIZE}),
)


class SchedTimer(VirtualClockTimer):
    """``sched.scheduler``, run without blocking."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.scheduler = sched.scheduler(timefunc=lambda: self.now_ms)
        self.armed: dict[str, sched.Event] = {}

    def add(self, task: str, delay_ms: int) -> None:
        self.cancel(task)
        self.armed[task] = self.scheduler.enter(delay_ms, 0, self.start, (task,))

    def cancel(self, task: str) -> None:
        if task in self.armed:  # cancelling an event that is not queued is an error
            self.scheduler.cancel(self.armed.pop(task))

    def start(self, task: str) -> None:
        del self.armed[task]
        self.run(task)

    def advance(self, *, inside: bool = False) -> None:
        while True:
            try:
                self.scheduler.run(blocking=False)
                return
            except UsersFailure:  # what a task throws reaches whoever runs the scheduler
                continue
            except SevereFailure:  # a severe one goes on to the caller, unless that is a task
                if not inside:
                    raise

    def size(self) -> int:
        return len(self.scheduler.queue)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock the suite moves."""

    now_ms = 0

    def time(self) -> float:
        return self.now_ms / 1000


class AsyncioTimer(VirtualClockTimer):
    """``loop.call_later``, one turn of the loop for each advance."""

    latest_ms = 2**31 - 1  # the clock counts seconds in a float; later, its steps exceed 0.5 ns

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.loop = VirtualLoop()
        self.loop.set_exception_handler(lambda *_: None)  # the default one writes to a log
        self.handles: dict[str, asyncio.TimerHandle] = {}

    def add(self, task: str, delay_ms: int) -> None:
        self.cancel(task)
        self.loop.now_ms = self.now_ms
        self.handles[task] = self.loop.call_later(delay_ms / 1000, self.run, task)

    def cancel(self, task: str) -> None:
        if task in self.handles:
            self.handles[task].cancel()

    def advance(self, *, inside: bool = False) -> None:
        self.loop.now_ms = self.now_ms
        self.loop.call_soon(self.loop.stop)  # stops behind the turn that it is called in
        self.loop.run_forever()

    def size(self) -> int:
        # Nothing public counts them: cancelled handles stay in the heap until they are due.
        return sum(not handle.cancelled() for handle in vars(self.loop)["_scheduled"])

    def close(self) -> None:
        self.loop.close()


def python_subject(
    name: str, profile: TimerProfile, make: Callable[[Configuration], Timer]
) -> InProcessSubject:
    source = "https://github.com/python/cpython"
    return subject(name, platform.python_version(), source, profile, make)


def sched_subject() -> InProcessSubject:
    return python_subject("sched.scheduler", SCHED, SchedTimer)


def asyncio_subject() -> InProcessSubject:
    return python_subject("asyncio call_later", ASYNCIO, AsyncioTimer)
