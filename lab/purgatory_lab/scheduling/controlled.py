"""Locks and conditions under the scheduler, with the interface of ``threading``.

Taking a lock is a yield point, and a thread is not chosen while the lock is held by another, so
that a choice is never a vain one. Releasing is none: what the thread does next up to its next yield
point nobody else can notice. A lock that the thread holds already and that is re-entrant is no
yield point either.

Outside a run, while a scenario is being set up or looked at, locks are free or that is an error.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol

from purgatory_lab.scheduling.errors import Abandoned, SchedulingError
from purgatory_lab.scheduling.run import LogicalThread, Obstacle
from purgatory_lab.scheduling.scheduler import Scheduler

_OUTSIDE: Final = object()
"""The holder of a lock that is held outside a run."""


class Naming(Protocol):
    """Knows the name of a lock or condition by its place."""

    def name_of(self, maker: object, made: object) -> str:
        """Return the name in the table of yield points; ``maker`` is the object that made it.

        Raises:
            UndeclaredLock: the table does not have it.
        """


class ControlledLock:
    """A lock; a ``reentrant`` lock may be taken again by its holder."""

    __slots__ = (
        "__weakref__",
        "_depth",
        "_holder",
        "_maker",
        "_name",
        "_naming",
        "_reentrant",
        "_scheduler",
    )

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
    def maker(self) -> object:
        """Return the object that made the lock, or stands for the place where it was made."""
        return self._maker

    @property
    def name(self) -> str:
        """Return the lock's name in the table of yield points."""
        if self._name is None:
            self._name = self._naming.name_of(self._maker, self)
        return self._name

    def is_held_by(self, thread: LogicalThread) -> bool:
        """Decide whether a thread holds the lock."""
        return self._holder is thread

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, when it is free; with a limit, until nothing else can happen."""
        thread = self._scheduler.running
        if thread is None:
            return self._acquire_outside()
        if self._holder is thread and self._reentrant:
            self._depth += 1
            return True
        if blocking and timeout < 0:
            self._scheduler.wait_for(self.obstacle(), self.name, self._maker)
        elif blocking and timeout > 0:
            limited = self.obstacle(self._scheduler.after(timeout))
            self._scheduler.wait_for(limited, self.name, self._maker)
        else:
            self._scheduler.reach(self.name, self._maker)
        if self._holder is not None:
            return False
        self.take(thread, 1)
        return True

    def release(self) -> None:
        """Give the lock back; nobody else moves for that."""
        thread = self._scheduler.running
        is_owned = self._reentrant or self._scheduler.locks_are_owned
        if thread is not None and self._holder is not thread and (is_owned or not self.locked()):
            raise RuntimeError(f"{self.name} is released by a thread that does not hold it")
        self._depth -= 1
        if self._depth == 0:
            self.let_go()

    def locked(self) -> bool:
        """Decide whether any thread holds the lock."""
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

    def obstacle(self, until_s: float | None = None) -> Obstacle:
        """Return the obstacle of a thread that waits until the lock is free, or until a time."""
        return Obstacle(lambda: self._holder is None, self._described, until_s)

    def _described(self) -> str:
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


class _Wait(Obstacle):
    """The obstacle of a thread that waits on a condition: a notification, and then the lock."""

    def __init__(self, condition: "ControlledCondition", until_s: float | None) -> None:
        super().__init__(
            lambda: self.notified, lambda: f"a notification of {condition.name}", until_s
        )
        self.notified = False
        self.over = until_s is not None and until_s <= condition.now_s
        self._lock = condition.lock.obstacle()

    def is_gone(self) -> bool:
        return super().is_gone() and self._lock.is_gone()

    def until_s(self) -> float | None:
        return None if self.notified else super().until_s()


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
    def now_s(self) -> float:
        """Return the reading of the run's clock."""
        return self._scheduler.now_s

    @property
    def name(self) -> str:
        """Return the condition's name in the table of yield points."""
        return self._naming.name_of(self._maker, self)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock that the condition belongs to."""
        return self.lock.acquire(blocking, timeout)

    def release(self) -> None:
        """Give the condition's lock back."""
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
            if self._scheduler.abandoned:
                raise Abandoned
            raise SchedulingError(f"{self.name}: outside a run nobody notifies")
        if not self.lock.is_held_by(thread):
            raise RuntimeError("cannot wait on un-acquired lock")
        wait = _Wait(self, self._scheduler.after(timeout))
        self._waits.append(wait)
        depth = self.lock.let_go()
        self._scheduler.wait_for(wait, self.name, self._maker)
        self.lock.take(thread, depth)
        if not wait.notified:
            self._waits.remove(wait)
        return wait.notified

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until a predicate holds; False where the limit has run out before."""
        until_s = self._scheduler.after(timeout)
        while not (result := predicate()):
            left_s = None if until_s is None else until_s - self._scheduler.now_s
            if left_s is not None and left_s <= 0:
                break
            self.wait(left_s)
        return result

    def notify(self, n: int = 1) -> None:
        """Wake so many of those that wait, the longest first.

        Raises:
            RuntimeError: the thread does not hold the condition's lock.
        """
        thread = self._scheduler.running
        if thread is not None and not self.lock.is_held_by(thread):
            raise RuntimeError("cannot notify on un-acquired lock")
        for wait in self._waits[:n]:
            wait.notified = True
        del self._waits[:n]

    def notify_all(self) -> None:
        """Wake all threads that wait."""
        self.notify(len(self._waits))
