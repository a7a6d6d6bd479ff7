"""Locks, conditions and threads under the scheduler, with the interface of ``threading``.

Taking a lock is a yield point, and a thread is not chosen while the lock is held by another, so
that a choice is never a vain one. Releasing is none: what the thread does next up to its next yield
point nobody else can notice. A lock that the thread holds already and that is re-entrant is no
yield point either.

Outside a run, while a scenario is being set up or looked at, locks are free or that is an error.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Final, Protocol

from purgatory_conformance.scheduling.errors import Abandoned, NotUnderControl, SchedulingError
from purgatory_conformance.scheduling.scheduler import LogicalThread, Scheduler

_OUTSIDE: Final = object()
"""Who holds a lock outside a run."""


class Naming(Protocol):
    """Knows the name of a lock or condition by its place."""

    def name_of(self, maker: object, made: object) -> str:
        """The name in the table of yield points; ``maker`` is the object whose method made it.

        Raises:
            UndeclaredLock: the table does not have it.
        """


class ControlledLock:
    """A lock; ``reentrant`` for one that its holder may take again."""

    __slots__ = ("_depth", "_holder", "_maker", "_name", "_naming", "_reentrant", "_scheduler")

    def __init__(
        self, scheduler: Scheduler, naming: Naming, maker: object, reentrant: bool
    ) -> None:
        self._scheduler = scheduler
        self._naming = naming
        self._maker = maker
        self._reentrant = reentrant
        self._holder: object = None
        self._depth = 0
        self._name: str | None = None

    @property
    def name(self) -> str:
        """Its name in the table of yield points."""
        if self._name is None:
            self._name = self._naming.name_of(self._maker, self)
        return self._name

    def is_held_by(self, thread: LogicalThread) -> bool:
        """Whether a thread holds it."""
        return self._holder is thread

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, when it is free.

        Raises:
            NotUnderControl: a time limit was given.
        """
        if timeout != -1:
            raise NotUnderControl("a lock is acquired with a time limit: that is not scheduled")
        thread = self._scheduler.running
        if thread is None:
            return self._acquire_outside()
        if self._holder is thread and self._reentrant:
            self._depth += 1
            return True
        if blocking:
            self._scheduler.wait_for(self, self.name, self._maker)
        else:
            self._scheduler.reach(self.name, self._maker)
            if self._holder is not None:
                return False
        self.take(thread, 1)
        return True

    def release(self) -> None:
        """Give the lock back; nobody else moves for that."""
        thread = self._scheduler.running
        if thread is not None and self._holder is not thread:
            raise RuntimeError(f"{self.name} is released by a thread that does not hold it")
        self._depth -= 1
        if self._depth == 0:
            self.let_go()

    def locked(self) -> bool:
        """Whether somebody holds it."""
        return self._holder is not None

    def take(self, thread: LogicalThread, depth: int) -> None:
        """Make a thread the holder of the free lock."""
        self._holder = thread
        self._depth = depth
        thread.held.append(self)

    def let_go(self) -> int:
        """Make it free; how often the holder had taken it."""
        holder, depth = self._holder, self._depth
        self._holder = None
        self._depth = 0
        if isinstance(holder, LogicalThread):
            holder.held.remove(self)
        return depth

    def is_gone(self, thread: LogicalThread) -> bool:
        """As an obstacle: whether the lock is free."""
        return self._holder is None

    def run_out(self) -> bool:
        """As an obstacle: there is no time limit."""
        return False

    def describe(self) -> str:
        """As an obstacle: which lock, and who holds it."""
        holder = self._holder
        name = holder.name if isinstance(holder, LogicalThread) else "nobody in the run"
        return f"{self.name}, which {name} holds"

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _acquire_outside(self) -> bool:
        if self._scheduler.abandoned:
            raise Abandoned
        if self._holder is _OUTSIDE and self._reentrant:
            self._depth += 1
            return True
        if self._holder is not None:
            raise SchedulingError(f"{self.name} is held although nothing runs")
        self._holder = _OUTSIDE
        self._depth = 1
        return True


class _Wait:
    """The obstacle of a thread that waits on a condition: a notification, and then the lock."""

    def __init__(self, condition: "ControlledCondition", limited: bool) -> None:
        self.notified = False
        self._condition = condition
        self._limited = limited
        self._over = False

    def is_gone(self, thread: LogicalThread) -> bool:
        return (self.notified or self._over) and self._condition.lock.is_gone(thread)

    def run_out(self) -> bool:
        if self.notified or self._over or not self._limited:
            return False
        self._over = True
        return True

    def describe(self) -> str:
        return f"a notification of {self._condition.name}"


class ControlledCondition:
    """A condition over a controlled lock."""

    def __init__(
        self, scheduler: Scheduler, naming: Naming, maker: object, lock: ControlledLock
    ) -> None:
        self.lock = lock
        self._scheduler = scheduler
        self._naming = naming
        self._maker = maker
        self._waits: list[_Wait] = []

    @property
    def name(self) -> str:
        """Its name in the table of yield points."""
        return self._naming.name_of(self._maker, self)

    def acquire(self) -> bool:
        """Take its lock."""
        return self.lock.acquire()

    def release(self) -> None:
        """Give its lock back."""
        self.lock.release()

    def __enter__(self) -> bool:
        return self.lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Give the lock back until somebody notifies; with a limit, until nothing else can happen.

        Returns:
            Whether it was notified.
        """
        thread = self._scheduler.running
        if thread is None:
            raise SchedulingError(f"{self.name}: outside a run nobody notifies")
        wait = _Wait(self, timeout is not None)
        self._waits.append(wait)
        depth = self.lock.let_go()
        self._scheduler.wait_for(wait, self.name, self._maker)
        self.lock.take(thread, depth)
        if not wait.notified:
            self._waits.remove(wait)
        return wait.notified

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until a predicate holds; False where the limit has run out before."""
        while not predicate():
            if not self.wait(timeout):
                return predicate()
        return True

    def notify(self, n: int = 1) -> None:
        """Wake so many of those that wait, the longest first."""
        for wait in self._waits[:n]:
            wait.notified = True
        del self._waits[:n]

    def notify_all(self) -> None:
        """Wake all that wait."""
        self.notify(len(self._waits))


class _End:
    """The obstacle of a thread that waits for another one to end."""

    def __init__(self, thread: LogicalThread, limited: bool) -> None:
        self._thread = thread
        self._limited = limited
        self._over = False

    def is_gone(self, thread: LogicalThread) -> bool:
        return self._thread.ended or self._over

    def run_out(self) -> bool:
        out = self._limited and not self._over
        self._over = self._over or self._limited
        return out

    def describe(self) -> str:
        return f"the end of {self._thread.name}"


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
            self._scheduler.wait_for(_End(self._logical, timeout is not None), "Thread.join", self)

    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._logical is not None and not self._logical.ended

    def is_(self, thread: LogicalThread | None) -> bool:
        """Whether it is this thread of the run."""
        return thread is not None and self._logical is thread

    def _run(self) -> None:
        if self._target is not None:
            self._target(*self._args, **self._kwargs)


class ControlledThreading:
    """What the modules of the implementation see as ``threading`` while they are scheduled."""

    TIMEOUT_MAX: Final = threading.TIMEOUT_MAX

    def __init__(self, scheduler: Scheduler, naming: Naming) -> None:
        self._scheduler = scheduler
        self._naming = naming
        self._made: list[ControlledThread] = []
        self._main = ControlledThread(scheduler, None, "main")

    def Lock(self) -> ControlledLock:  # noqa: N802 (the name in threading)
        """A lock of the object whose method asks for it."""
        return ControlledLock(self._scheduler, self._naming, _maker(), reentrant=False)

    def RLock(self) -> ControlledLock:  # noqa: N802
        """A re-entrant lock of the object whose method asks for it."""
        return ControlledLock(self._scheduler, self._naming, _maker(), reentrant=True)

    def Condition(self, lock: ControlledLock | None = None) -> ControlledCondition:  # noqa: N802
        """A condition of the object whose method asks for it."""
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
        """A thread of the run, once it is started."""
        thread = ControlledThread(self._scheduler, target, name, args, kwargs)
        self._made.append(thread)
        return thread

    def current_thread(self) -> ControlledThread:
        """The thread that moves now; one of the code's own, or one that stands for a caller."""
        running = self._scheduler.running
        for thread in self._made:
            if thread.is_(running):
                return thread
        return ControlledThread(
            self._scheduler, None, "caller" if running is None else running.name
        )

    def main_thread(self) -> ControlledThread:
        """No thread of a run."""
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
    """What a module sees as ``time``: to sleep is to let others go on, whatever the duration."""

    def __init__(self, scheduler: Scheduler, point: str) -> None:
        self._scheduler = scheduler
        self._point = point

    def sleep(self, seconds: float) -> None:
        """A yield point."""
        self._scheduler.reach(self._point)

    def __getattr__(self, name: str) -> object:
        raise NotUnderControl(f"the code under test uses time.{name}, which is not scheduled")


def _maker() -> object:
    """The object in whose method a lock is being made; None where that is no method."""
    return sys._getframe(2).f_locals.get("self")
