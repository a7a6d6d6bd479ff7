"""Exclusion: the lock of short sections, with two strategies behind one interface.

The package is one source and two builds. Pure, a section is guarded by a lock of ``threading``.
Compiled, and under the interpreter's global lock, it is guarded by a *thin* lock: a flag. Between
reading the flag and setting it no other thread can run, because compiled code gives way only where
it calls back into the interpreter. Who finds the flag set waits, on one condition that all thin
locks share; that is rare, since a section gives way only where it allocates and the collector runs
a finaliser, where it hashes or compares a user's key, or where it waits for another lock.

An exception may reach a thread between any two lines of Python: Ctrl-C the main thread. So a lock
of ``threading`` is taken by ``with`` on the lock itself, whose entry is one step; never by
``acquire`` before a ``try``, nor by a function or a ``Condition``, which end in a line of Python
that has the lock. A line of compiled code is not interrupted, but where it waits. A loop inside
``with`` or ``try`` is ``while True`` with a ``break``: from Python 3.13 on the jump behind the
condition of another ``while`` has no handler, so that an exception there passes the block's end.

So a thin lock is a lock: what it guards may call anything that a lock's section may. Like the locks
of ``threading``, a thin lock is not re-entrant.

Where threads are let go on one at a time, to see what an order of theirs does, somebody has to know
when a lock is about to be taken. Locks of ``threading`` are replaced for that; thin ones tell a
``Watcher``.
"""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import Final, NoReturn, cast, final
from weakref import WeakKeyDictionary, WeakValueDictionary

from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.errors import UsedAfterFork
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.task import COMPILED


def _has_global_lock() -> bool:
    """Decide whether only one thread at a time runs in this interpreter."""
    probe = getattr(sys, "_is_gil_enabled", None)
    return probe is None or bool(probe())


THIN: Final = COMPILED and _has_global_lock()
"""True if locks are thin: no other thread runs between two lines that call nothing."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Watcher:
    """Is called by whoever is about to take a thin lock that it does not have.

    The call returns when the lock is free and no other thread goes on; or it raises, and the lock
    is not taken.
    """

    __slots__ = ()

    def before_section(self, lock: SectionLock) -> None:
        """Watch a section that is about to begin."""
        raise NotImplementedError("a watcher must override before_section")

    def before_own(self, operation: GuardedTask, waits: bool) -> None:
        """Watch an operation's own lock that is about to be taken, or left where it is not free.

        Args:
            operation: Whose lock.
            waits: Whether the thread waits for it; if not, the call returns whether or not the lock
                is free.
        """
        raise NotImplementedError("a watcher must override before_own")

    def before_word(self, operation: GuardedTask) -> None:
        """Watch the lock of an operation's word that is about to be taken."""
        raise NotImplementedError("a watcher must override before_word")


@final
class Parking:
    """The place where threads wait for thin locks.

    Attributes:
        sleepers: A taken lock for each, which wakes it when it is let go of; whoever lets go of a
            thin lock looks here. An interrupted thread may leave its lock in the list.
        watcher: Who is told before one is taken, if anybody is.
    """

    __slots__ = ("sleepers", "watcher")

    def __init__(self) -> None:
        self.sleepers: list[threading.Lock] = []
        self.watcher: Watcher | None = None

    def wake(self) -> None:
        """Wake all waiting threads; each looks at its lock again."""
        # Made first: an allocation may let other threads run.
        none: list[threading.Lock] = []
        woken = self.sleepers
        self.sleepers = none
        for sleeper in woken:
            sleeper.release()


PARKING: Final = Parking()
"""The parked threads of all thin locks."""


@final
class SectionLock:
    """A lock for a section; in the pure build ``pure`` stands for it."""

    __slots__ = ("_held", "_is_of_parent", "_lock")

    def __init__(self) -> None:
        self._held = False
        self._is_of_parent = False
        self._lock: threading.Lock | None = None if THIN else threading.Lock()

    def __enter__(self) -> None:
        """Begin the section, when nobody else is in it."""
        if self._lock is not None:
            self._lock.acquire()
            return
        if PARKING.watcher is not None:
            PARKING.watcher.before_section(self)
        if self._held:
            self._wait()
        else:
            self._held = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the section, and wake waiting threads."""
        self.release()

    def release(self) -> None:
        """End the section, and wake waiting threads."""
        if self._lock is not None:
            self._lock.release()
            return
        self._held = False
        if PARKING.sleepers:
            PARKING.wake()

    def locked(self) -> bool:
        """Decide whether a thread is in the section."""
        return self._held if self._lock is None else self._lock.locked()

    def refuse(self) -> None:
        """Let nobody begin the section from now on: this is a child, and the lock its parent's."""
        self._is_of_parent = True
        self._held = True
        self._lock = None

    def reset(self) -> None:
        """Forget who is in the section, who is not in this process."""
        self._held = False
        if self._lock is not None:
            self._lock = threading.Lock()

    def _wait(self) -> None:
        if self._is_of_parent:
            raise UsedAfterFork
        sleeper = taken_lock()
        while self._held:
            PARKING.sleepers.append(sleeper)
            sleeper.acquire()
        self._held = True


def taken_lock() -> threading.Lock:
    """Return a lock that is taken: the next to take it sleeps until somebody lets go of it."""
    lock = threading.Lock()
    lock.acquire()
    return lock


def pure(lock: threading.Lock) -> SectionLock:
    """Return a lock of ``threading``, which guards a section in the pure build."""
    return cast("SectionLock", lock)


@final
class RefusingLock:
    """Takes the place of a lock of ``threading`` that a forked process has inherited."""

    __slots__ = ()

    def __enter__(self) -> NoReturn:
        """Refuse to enter after a fork.

        Raises:
            UsedAfterFork: always.
        """
        raise UsedAfterFork

    def __exit__(self, *_: object) -> None:
        """Do nothing: the lock is never entered."""


# A lock is refused to the children of a process by way of what it belongs to: pure, the attribute
# of the owner is replaced; compiled, where owners have no weak references, the lock is marked, for
# as long as the owner keeps the token that stands for it.
_OWNERS: Final[WeakValueDictionary[int, object]] = WeakValueDictionary()
_LOCKS: Final[WeakKeyDictionary[threading.Lock, SectionLock]] = WeakKeyDictionary()


def refused_after_fork(owner: object, lock: SectionLock) -> object:
    """See to it that a child that inherits the owner of a lock is refused every use of it.

    Args:
        owner: Has the lock as ``_lock`` or ``lock``.
        lock: Is taken by all that the owner does.

    Returns:
        A token, to be kept by the owner; None in the pure build, which needs none.
    """
    if not COMPILED:
        _OWNERS[id(owner)] = owner
        return None
    token = threading.Lock()
    _LOCKS[token] = lock
    return token


_GLOBAL: Final[list[SectionLock]] = []
_REINITIALISE: Final = "_at_fork_reinit"
"""The method of CPython's locks for this very purpose; ``threading`` calls it for its own."""


def freed_after_fork(lock: SectionLock) -> None:
    """See to it that in a child nobody is in a section that all owners share."""
    _GLOBAL.append(lock)


def _forget_parent() -> None:
    """Make a child of a fork refuse inherited objects, and wait for no thread of the parent."""
    PARKING.sleepers = []
    for owner in list(_OWNERS.values()):
        setattr(owner, "_lock" if hasattr(owner, "_lock") else "lock", RefusingLock())
    for lock in list(_LOCKS.values()):
        lock.refuse()
    _OWNERS.clear()
    _LOCKS.clear()
    for lock in _GLOBAL:
        if COMPILED:
            lock.reset()
        else:
            getattr(lock, _REINITIALISE)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
