"""Stand-ins for ``threading`` and ``time`` that the scheduled code sees."""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from purgatory_lab.scheduling.controlled import (
    ControlledCondition,
    ControlledLock,
    Naming,
)
from purgatory_lab.scheduling.errors import NotUnderControl
from purgatory_lab.scheduling.run import LogicalThread, end_of
from purgatory_lab.scheduling.scheduler import Scheduler


class ControlledThread:
    """A thread that the code under test starts, or finds itself in."""

    def __init__(
        self,
        scheduler: Scheduler,
        target: Callable[..., object] | None,
        name: str,
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> None:
        self.name = name
        self.daemon = True
        self._scheduler = scheduler
        self._target = target
        self._args = tuple(args)
        self._kwargs = dict(kwargs or {})
        self._logical: LogicalThread | None = None

    def start(self) -> None:
        """Let it be one of the run's threads from now on."""
        if self._logical is not None:
            raise RuntimeError("threads can only be started once")
        self._logical = self._scheduler.start(self.name, self._run)

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended; with a limit, until nothing else can happen."""
        if self._logical is None:
            raise RuntimeError("cannot join a thread before it is started")
        if not self._logical.ended:
            end = end_of(self._logical, until_s=self._scheduler.after(timeout))
            self._scheduler.wait_for(end, "Thread.join", self)

    def is_alive(self) -> bool:
        """Decide whether the thread was started and has not ended."""
        return self._logical is not None and not self._logical.ended

    def is_(self, thread: LogicalThread | None) -> bool:
        """Decide whether the object stands for the given thread of the run."""
        return thread is not None and self._logical is thread

    def _run(self) -> None:
        if self._target is not None:
            self._target(*self._args, **self._kwargs)


class ControlledThreading:
    """The stand-in for ``threading`` in the modules of the implementation."""

    TIMEOUT_MAX: Final = threading.TIMEOUT_MAX

    def __init__(self, scheduler: Scheduler, naming: Naming) -> None:
        self._scheduler = scheduler
        self._naming = naming
        self._made: list[ControlledThread] = []
        self._main = ControlledThread(scheduler, None, "main")

    def Lock(self) -> ControlledLock:  # noqa: N802 (the name in threading)
        """Return a lock of the object whose method asks for it."""
        return ControlledLock(self._scheduler, self._naming, _maker(), reentrant=False)

    def RLock(self) -> ControlledLock:  # noqa: N802
        """Return a re-entrant lock of the object whose method asks for it."""
        return ControlledLock(self._scheduler, self._naming, _maker(), reentrant=True)

    def Condition(self, lock: ControlledLock | None = None) -> ControlledCondition:  # noqa: N802
        """Return a condition of the object whose method asks for it."""
        maker = _maker()
        own = lock or ControlledLock(self._scheduler, self._naming, maker, reentrant=True)
        return ControlledCondition(self._scheduler, self._naming, maker, own)

    def Thread(  # noqa: N802
        self,
        *,
        target: Callable[..., object] | None = None,
        name: str = "thread",
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
        daemon: bool | None = None,
    ) -> ControlledThread:
        """Return a thread of the run, once it is started."""
        thread = ControlledThread(self._scheduler, target, name, args, kwargs)
        self._made.append(thread)
        return thread

    def current_thread(self) -> ControlledThread:
        """Return the thread that moves now: one made by the code, or a stand-in for a caller."""
        running = self._scheduler.running
        for thread in self._made:
            if thread.is_(running):
                return thread
        return ControlledThread(
            self._scheduler, None, "caller" if running is None else running.name
        )

    def main_thread(self) -> ControlledThread:
        """Return a main thread that is no thread of a run."""
        return self._main

    def forget(self) -> None:
        """Let go of the threads of the run before."""
        self._made.clear()

    def __getattr__(self, name: str) -> object:
        raise NotUnderControl(
            f"the code under test uses threading.{name}, which the scheduler does not know; "
            "add it to ControlledThreading"
        )


class GivingWay:
    """The stand-in for ``time``: to sleep is to let others go on, whatever the duration."""

    def __init__(self, scheduler: Scheduler, point: str) -> None:
        self._scheduler = scheduler
        self._point = point

    def sleep(self, seconds: float) -> None:
        """Reach a yield point, whatever the duration."""
        self._scheduler.reach(self._point)

    def __getattr__(self, name: str) -> object:
        raise NotUnderControl(f"the code under test uses time.{name}, which is not scheduled")


def _maker() -> object:
    """Return the object in whose method a lock is being made; None outside a method."""
    return sys._getframe(2).f_locals.get("self")
