"""The compiled build under the scheduler.

Nothing in it can be put in the place of anything else. So its locks are the yield points: thin ones
tell a watcher, and for those of ``threading`` the module itself gives controlled ones, to the
implementation alone. Fields are no yield points here: between two locks compiled code gives way
only where it calls something interpreted.

A lock has no name but a number, in the order in which the locks of a run are first reached; those
of an operation are told by the operation.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final
from unittest.mock import patch

from purgatory_impl.exclusion import PARKING, SectionLock, Watcher
from purgatory_impl.guarded import GuardedTask
from purgatory_lab.scheduling.controlled import ControlledCondition, ControlledLock
from purgatory_lab.scheduling.controlled_threading import ControlledThreading, GivingWay
from purgatory_lab.scheduling.errors import Abandoned, SchedulingError
from purgatory_lab.scheduling.run import Obstacle
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.yield_points import Injection, Table

_SCHEDULING: Final = __name__.rpartition(".")[0].rpartition(".")[0]
_CALLERS: Final = (f"{_SCHEDULING}.bundled.", f"{_SCHEDULING}.controlled_threading")
"""Modules whose frames are the last ones below the implementation, which has none of its own."""

_CONTROLLED: Final = ("Lock", "RLock", "Condition", "Thread", "current_thread", "main_thread")


class ThinLocks(Watcher):
    """Makes yield points of thin locks."""

    def __init__(self, injection: CompiledInjection) -> None:
        self._injection = injection
        self._scheduler = injection.scheduler

    def before_section(self, lock: SectionLock) -> None:
        """Reach a yield point before a section."""
        name = self._injection.name_of(None, lock)
        self._before(name, lambda: not lock._held, None)

    def before_own(self, operation: GuardedTask, waits: bool) -> None:
        """Reach a yield point before an own lock, as if free where the thread does not wait."""
        self._before("own lock", lambda: not waits or operation._depth == 0, operation)

    def before_word(self, operation: GuardedTask) -> None:
        """Reach a yield point before the lock of a word."""
        self._before("lock of the word", lambda: not operation._word_held, operation)

    def _before(self, name: str, is_free: Callable[[], bool], about: object) -> None:
        scheduler = self._scheduler
        if scheduler.running is not None:
            self._injection.visits[name] += 1
            scheduler.wait_for(Obstacle(is_free, lambda: name), name, about)
        elif scheduler.abandoned:
            raise Abandoned
        elif not is_free():
            raise SchedulingError(f"{name} is held although nothing runs")


class CompiledThreading(ControlledThreading):
    """The stand-in for ``threading`` in the compiled implementation, whose caller is not seen."""

    def __init__(self, scheduler: Scheduler, injection: CompiledInjection) -> None:
        super().__init__(scheduler, injection)
        self._new = (scheduler, injection, None)

    def Lock(self) -> ControlledLock:  # noqa: N802 (the name in threading)
        """Return a lock that the scheduler controls."""
        return ControlledLock(*self._new, reentrant=False)

    def RLock(self) -> ControlledLock:  # noqa: N802
        """Return a controlled re-entrant lock."""
        return ControlledLock(*self._new, reentrant=True)

    def Condition(self, lock: ControlledLock | None = None) -> ControlledCondition:  # noqa: N802
        """Return a condition that the scheduler controls."""
        own = ControlledLock(*self._new, reentrant=True) if lock is None else lock
        return ControlledCondition(*self._new, own)


class CompiledInjection(Injection):
    """Has the compiled implementation give way at its locks."""

    def __init__(self, table: Table, scheduler: Scheduler) -> None:
        super().__init__(table, scheduler)
        self.threading = CompiledThreading(scheduler, self)
        # The locks themselves, so that no number is given twice.
        self._numbered: dict[int, tuple[str, object]] = {}

    def name_of(self, maker: object, made: object) -> str:
        """Return the kind of a lock or condition and its number in the run."""
        if id(made) not in self._numbered:
            kind = "condition" if isinstance(made, ControlledCondition) else "lock"
            self._numbered[id(made)] = (f"{kind} {len(self._numbered) + 1}", made)
        return self._numbered[id(made)][0]

    def begin(self) -> None:
        """Begin a new run and forget the previous one."""
        super().begin()
        self._numbered.clear()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watch thin locks, and give controlled ones in the place of others."""
        with ExitStack() as stack:
            for name in _CONTROLLED:
                own, other = getattr(self.threading, name), getattr(threading, name)
                stack.enter_context(patch.object(threading, name, _either(own, other)))
            way = GivingWay(self.scheduler, "time.sleep")
            stack.enter_context(patch.object(time, "sleep", _either(way.sleep, time.sleep)))
            stack.enter_context(self.quiet())
            PARKING.watcher = ThinLocks(self)
            try:
                yield
            finally:
                PARKING.watcher = None


def _either(own: Callable[..., object], other: Callable[..., object]) -> Callable[..., object]:
    """Return a function that gives the implementation ``own`` and other callers ``other``."""

    def either(*args: object, **keywords: object) -> object:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        chosen = own if caller.startswith(_CALLERS) else other
        return chosen(*args, **keywords)

    return either
