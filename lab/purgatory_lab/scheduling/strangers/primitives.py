"""The stand-ins for ``threading``, ``queue`` and ``time`` while somebody else's code is scheduled.

They are put into the modules of the standard library, so that it does not matter how the code
imports them. Whoever asks gets a controlled one if the code under test asks, directly or by way of
``threading``, ``queue``, ``sched`` or ``concurrent.futures``; our own machinery gets the real ones.
``Event``, ``Semaphore``, ``Barrier`` and ``Queue`` are written in Python on top of locks and
conditions, and so need no stand-ins.

Time is the clock of the run, which moves only where every thread waits: to the end of the wait that
ends first.
"""

import concurrent.futures.thread
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Final
from unittest.mock import patch

from purgatory_lab.scheduling.controlled import ControlledCondition, ControlledLock
from purgatory_lab.scheduling.errors import Abandoned, NotUnderControl
from purgatory_lab.scheduling.run import LogicalThread, Obstacle, end_of
from purgatory_lab.scheduling.scheduler import Scheduler

_MACHINERY: Final = __name__.rpartition(".")[0].rpartition(".")[0]
_BETWEEN: Final = ("threading", "queue", "sched", "concurrent")
"""The packages of the standard library that ask on behalf of other code."""

_EPOCH_S: Final = 1_700_000_000
"""The reading of ``time.time`` when a run begins, s."""

_PYTHON_QUEUE: Final = "_PySimpleQueue"
"""The queue that is written in Python, whose lock can be scheduled."""

REAL_LOCKS: Final = (type(threading.Lock()), type(threading.RLock()), threading.Condition)
_SHUTDOWN_LOCK: Final = "_global_shutdown_lock"
_CLOCKS: Final = ("monotonic", "perf_counter", "time")


class Origin:
    """The place where a lock was made: the object and the line of the code under test."""

    def __init__(self, frame: FrameType) -> None:
        """Take the first frame that is not the standard library's, or the given one."""
        self.owner: object = frame.f_locals.get("self")
        self.variables = frame.f_globals
        self.line = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"

    def is_of(self, other: object) -> bool:
        """Decide whether two locks were made for one object in one line, as in an event."""
        return isinstance(other, Origin) and (other.owner is self.owner and other.line == self.line)

    def name_of(self, made: object) -> str:
        """Return the attribute or the variable that has a lock, or the line that has made it."""
        if self.owner is not None:
            for name in _attributes(self.owner):
                if _leads_to(getattr(self.owner, name, None), made):
                    return f"{type(self.owner).__name__}.{name}"
        for name, value in self.variables.items():
            if _leads_to(value, made):
                return f"{self.variables['__name__']}.{name}"
        return f"the lock of {self.line}"


def _attributes(owner: object) -> list[str]:
    slots = (getattr(kind, "__slots__", ()) for kind in type(owner).__mro__)
    named = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
    return [*getattr(owner, "__dict__", {}), *named]


def _leads_to(value: object, made: object) -> bool:
    """Decide whether a value is a lock, or has it, as an event has a condition."""
    if value is made or getattr(value, "lock", None) is made:
        return True
    if type(value).__module__ not in ("threading", "queue"):
        return False
    return any(each is made or getattr(each, "lock", None) is made for each in vars(value).values())


class Named:
    """Names locks by their places; those of one name are numbered as they are first reached."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, object]] = {}
        self._counts: dict[str, int] = {}

    def name_of(self, maker: object, made: object) -> str:
        """Return the name of a lock or a condition; one that makes its own lock shares the name."""
        assert isinstance(maker, Origin)
        if isinstance(made, ControlledCondition) and maker.is_of(made.lock.maker):
            made = made.lock
        if id(made) not in self._names:
            name = maker.name_of(made)
            count = self._counts[name] = self._counts.get(name, 0) + 1
            self._names[id(made)] = name if count == 1 else f"{name} ({count})", made
        return self._names[id(made)][0]

    def forget(self) -> None:
        """Forget the locks of the run before."""
        self._names.clear()
        self._counts.clear()


class TriedLock(ControlledLock):
    """A lock that a thread may ask for without waiting, and so see held by another thread.

    Its release is a yield point once a thread has asked for the lock in this way, or with a time
    limit: such a thread notices what the holder does between its last yield point and the release.
    """

    __slots__ = ("_is_tried",)

    def __init__(self, primitives: "Primitives", place: Origin, *, reentrant: bool) -> None:
        super().__init__(primitives.scheduler, primitives.named, place, reentrant)
        self._is_tried = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, when it is free; with a limit, until nothing else can happen."""
        self._is_tried |= not blocking or timeout >= 0
        return super().acquire(blocking, timeout)

    def locked(self) -> bool:
        """Decide whether any thread holds the lock."""
        self._is_tried = True
        return super().locked()

    def release(self) -> None:
        """Give the lock back."""
        thread = self._scheduler.running
        if self._is_tried and thread is not None and self.is_held_by(thread) and self._depth == 1:
            self._scheduler.reach(f"releases {self.name}", self._maker)
        super().release()


class Primitives:
    """Makes controlled primitives for the code under test.

    Attributes:
        preparing: Whether code under test is being imported, outside a run.
        deaths: The exceptions that have ended threads of the code, in words.
        enter: Called by each thread that the code has started, before its body.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.named = Named()
        self.preparing = False
        self._home = threading.get_ident()
        self.deaths: list[str] = []
        self.enter: Callable[[], object] = _nothing
        self._threads: dict[threading.Thread, LogicalThread] = {}

    def begin(self) -> None:
        """Begin a run, and forget the run before."""
        self.scheduler.begin()
        self.named.forget()
        self.deaths.clear()
        for thread in self._threads:
            _of_executors().pop(thread, None)
        self._threads.clear()
        place = Origin(sys._getframe())
        lock = ControlledLock(self.scheduler, self.named, place, reentrant=False)
        setattr(concurrent.futures.thread, _SHUTDOWN_LOCK, lock)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Put the stand-ins in place; and put everything back as it was."""
        real = threading.Thread
        with ExitStack() as stack:

            def put(owner: object, name: str, value: object) -> None:
                stack.enter_context(patch.object(owner, name, value))

            put(threading, "Lock", _either(self, self._lock, threading.Lock))
            put(threading, "RLock", _either(self, self._rlock, threading.RLock))
            put(threading, "Condition", _either(self, self._condition, threading.Condition))
            put(threading, "current_thread", self._current(threading.current_thread))
            put(real, "start", self._start(real.start))
            put(real, "join", self._join(real.join))
            put(real, "is_alive", self._is_alive(real.is_alive))
            put(queue, "SimpleQueue", getattr(queue, _PYTHON_QUEUE))
            put(concurrent.futures.thread, _SHUTDOWN_LOCK, None)
            stack.callback(self.begin)
            for name in _CLOCKS:
                seconds = self._clock(getattr(time, name), _EPOCH_S if name == "time" else 0)
                put(time, name, seconds)
                nanoseconds = f"{name}_ns"
                put(time, nanoseconds, self._clock_ns(getattr(time, nanoseconds), seconds))
            put(threading, "_time", time.monotonic)
            put(queue, "time", time.monotonic)
            put(time, "sleep", self._sleep(time.sleep))
            yield

    def is_asked(self) -> bool:
        """Decide whether the code under test asks, or the machinery around it.

        Other threads of this process go their own way, also in the midst of a run.
        """
        is_home = self.preparing and threading.get_ident() == self._home
        if not (is_home or self.scheduler.is_here()):
            return False
        if self.scheduler.running is None and not self.preparing and not self.scheduler.abandoned:
            return False
        return not _asker().f_globals.get("__name__", "").startswith(_MACHINERY)

    def _lock(self) -> ControlledLock:
        return TriedLock(self, Origin(_asker()), reentrant=False)

    def _rlock(self) -> ControlledLock:
        return TriedLock(self, Origin(_asker()), reentrant=True)

    def _condition(self, lock: object = None) -> ControlledCondition:
        place = Origin(_asker())
        own = lock or ControlledLock(self.scheduler, self.named, place, reentrant=True)
        if not isinstance(own, ControlledLock):
            raise NotUnderControl(
                f"{place.line} makes a condition of {own!r}, which is no lock of this run: it was "
                "made before the class was imported under control, or is no lock of threading"
            )
        return ControlledCondition(self.scheduler, self.named, place, own)

    def _start(self, real: Callable[[threading.Thread], None]) -> Callable[..., None]:
        def start(thread: threading.Thread) -> None:
            if not self.is_asked():
                return real(thread)
            if thread in self._threads:
                raise RuntimeError("threads can only be started once")
            if self.scheduler.abandoned:
                raise Abandoned
            if self.scheduler.running is None:
                raise NotUnderControl(
                    f"the thread {thread.name!r} is started while the module is imported; "
                    "start it where the object is made"
                )

            def body() -> None:
                self.enter()
                try:
                    thread.run()
                except Exception as error:
                    # The other threads of a program go on.
                    self.scheduler.mark(f"ends with {error!r}")
                    self.deaths.append(f"thread {thread.name} has ended with {error!r}")

            self._threads[thread] = self.scheduler.start(thread.name, body, background=True)
            return None

        return start

    def _join(self, real: Callable[..., None]) -> Callable[..., None]:
        def join(thread: threading.Thread, timeout: float | None = None) -> None:
            logical = self._threads.get(thread)
            if logical is None:
                return real(thread, timeout)
            if self.scheduler.abandoned:
                raise Abandoned
            if not logical.ended:
                end = end_of(logical, until_s=self.scheduler.after(timeout))
                self.scheduler.wait_for(end, f"Thread.join of {logical.name}")
            return None

        return join

    def _is_alive(self, real: Callable[[threading.Thread], bool]) -> Callable[..., bool]:
        def is_alive(thread: threading.Thread) -> bool:
            logical = self._threads.get(thread)
            return real(thread) if logical is None else not logical.ended

        return is_alive

    def _current(self, real: Callable[[], threading.Thread]) -> Callable[[], threading.Thread]:
        def current_thread() -> threading.Thread:
            running = self.scheduler.running
            found = (each for each, logical in self._threads.items() if logical is running)
            return next(found, None) or real()

        return current_thread

    def _clock(self, real: Callable[[], float], begin_s: int) -> Callable[[], float]:
        def clock() -> float:
            return begin_s + self.scheduler.now_s if self.is_asked() else real()

        return clock

    def _clock_ns(self, real: Callable[[], int], seconds: Callable[[], float]) -> Callable[[], int]:
        def clock_ns() -> int:
            return round(seconds() * 1e9) if self.is_asked() else real()

        return clock_ns

    def _sleep(self, real: Callable[[float], None]) -> Callable[[float], None]:
        def sleep(seconds: float) -> None:
            if not self.is_asked():
                return real(seconds)
            if self.scheduler.abandoned:
                raise Abandoned
            until_s = self.scheduler.after(seconds)
            assert until_s is not None
            if seconds > 0:
                sleeps = Obstacle(lambda: False, lambda: "the time", until_s)
                self.scheduler.wait_for(sleeps, "time.sleep")
            else:
                self.scheduler.reach("time.sleep")
            return None

        return sleep


class _Substituted(type):
    """The type of a substitute, of which the original's objects are instances, too."""

    original: object

    def __instancecheck__(cls, instance: object) -> bool:
        real = cls.original if isinstance(cls.original, type) else ()
        return isinstance(instance, (ControlledLock, ControlledCondition, real))


def substitute(name: str, real: object, make: Callable[..., object]) -> type:
    """Return a type whose objects ``make`` makes, and whose instances include those of ``real``.

    Users' annotations need a type, and not a function.
    """

    def new(kind: type, *args: object, **keywords: object) -> object:
        if kind.__module__ != __name__:
            raise NotUnderControl(f"{kind.__name__} extends {name}: that is not scheduled")
        return make(*args, **keywords)

    return _Substituted(name, (), {"__new__": new, "original": real, "__module__": __name__})


def _either(
    primitives: Primitives, controlled: Callable[..., object], real: Callable[..., object]
) -> type:
    """Return a type that makes a controlled object for the code under test, else a real one."""

    def make(*args: object, **keywords: object) -> object:
        return (controlled if primitives.is_asked() else real)(*args, **keywords)

    return substitute(real.__name__, real, make)


def _asker() -> FrameType:
    """Return the frame that asks: the first one outside this module and the standard library."""
    frame: FrameType | None = sys._getframe(1)
    last = sys._getframe(1)
    while frame is not None:
        last = frame
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and name.partition(".")[0] not in _BETWEEN:
            return frame
        frame = frame.f_back
    return last


def _of_executors() -> MutableMapping[threading.Thread, object]:
    """Return the threads of executors, which the interpreter joins when it ends."""
    threads: MutableMapping[threading.Thread, object] = vars(concurrent.futures.thread)[
        "_threads_queues"
    ]
    return threads


def _nothing() -> None:
    """Do nothing."""
