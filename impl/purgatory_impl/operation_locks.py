"""Taking and leaving the thin locks of a delayed operation: its own, re-entrant, and its word's.

They lie in the operation itself, see ``guarded``, so that nothing is allocated for them. Where the
locks are those of ``threading``, ``with`` takes them: see ``exclusion``.

A callback may complete a further operation, whose callback completes another one. Each level takes
some of the thread's stack, and compiled nobody but this module counts the levels: so a thread holds
``MOST_NESTED`` own locks at most, and fewer where its stack is smaller than 256 KiB: one for each
2,500 bytes. A further lock is refused with a ``RecursionError`` before anything is changed, alike
in both builds and whatever recursion limit the interpreter has.

Compiled, the locks of all threads together are counted first, which costs two additions. Beyond
``UNCOUNTED`` each thread's further locks are counted by themselves. So a thread alone is refused at
its bound, and beside others so many locks before that at the earliest, never later.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, final

from purgatory_impl.compiler import i32
from purgatory_impl.exclusion import PARKING, THIN, taken_lock
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.stacks import stack_bytes

MOST_NESTED: Final = 100
"""How many own locks a thread may hold, one inside another; a stack of 256 KiB has room for them.

A check takes two for each operation that it completes, a try and the completion inside it.
"""

BYTES_PER_LOCK: Final = 2500
"""So much of a thread's stack counts for one own lock: twice what the compiled build needs."""

UNCOUNTED: Final = 8 if THIN else 0
"""So many locks of all threads together are not counted by thread."""

_LEAST_COUNTED: Final = 12 - UNCOUNTED
"""So many counted locks every thread may hold: the smallest stack, 32 KiB, has room for them."""

_ident: Final = threading.get_ident


@final
class Nesting:
    """How many own locks are held.

    Attributes:
        held: The locks of all threads together, where locks are thin.
        uncounted: The largest ``held`` at which no thread's locks are counted; 0 while some are.
        of_threads: The counted locks of each thread that has any.
    """

    __slots__ = ("held", "of_threads", "uncounted")

    def __init__(self) -> None:
        self.held: i32 = 0
        self.uncounted: i32 = UNCOUNTED
        self.of_threads: dict[int, int] = {}

    def refuse_beyond_bound(self) -> None:
        """Another own lock is about to be taken.

        Raises:
            RecursionError: this thread holds as many as it may.
        """
        counted = self.of_threads.get(_ident(), 0)
        if counted < _LEAST_COUNTED:
            return
        most = _most_nested_here()
        if counted + UNCOUNTED >= most:
            bound = "" if most == MOST_NESTED else "; its stack has room for no more"
            raise RecursionError(
                f"tries and callbacks of operations are nested {most} deep in this thread{bound}; "
                "let callbacks only note what is to be completed, and complete that after them"
            )

    def count_in(self) -> None:
        """Count a lock that this thread has taken, if many are held or its earlier locks count."""
        me = _ident()
        counted = self.of_threads.get(me, 0)
        if counted or self.held > UNCOUNTED:
            self.of_threads[me] = counted + 1
            self.uncounted = 0

    def count_out(self) -> None:
        """Count out a lock that this thread lets go of, if any lock of the thread is counted."""
        me = _ident()
        counted = self.of_threads.get(me, 0)
        if counted > 1:
            self.of_threads[me] = counted - 1
        elif counted:
            del self.of_threads[me]
            if not self.of_threads:
                self.uncounted = UNCOUNTED


NESTING: Final = Nesting()
"""Of all operations."""


def _most_nested_here() -> int:
    """Return how many own locks this thread may hold."""
    stack = stack_bytes()
    return MOST_NESTED if stack is None else min(MOST_NESTED, stack // BYTES_PER_LOCK)


def _forget_parent() -> None:
    """In a child that was forked: the locks of the parent's other threads are not counted."""
    NESTING.held = 0
    NESTING.uncounted = UNCOUNTED
    NESTING.of_threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


def this_thread() -> int:
    """This thread's identity for thin locks; slower to read than a lock: once per call."""
    return _ident() if THIN else 0


@final
class OwnThinLock:
    """An operation's own thin lock, for ``with``."""

    __slots__ = ("_operation",)

    def __init__(self, operation: GuardedTask) -> None:
        self._operation = operation

    def __enter__(self) -> bool:
        """Take it."""
        enter(self._operation, this_thread())
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let go of it."""
        leave(self._operation)


def own_lock(operation: GuardedTask) -> AbstractContextManager[bool]:
    """The operation's own lock, for whoever has to exclude tries and ``on_complete``."""
    locks = operation._locks
    return OwnThinLock(operation) if locks is None else locks.own


def under_own_lock(lock: AbstractContextManager[bool], body: Callable[[], bool]) -> bool:
    """Do something under the own lock, where that is a lock of ``threading``.

    The count is set and not stepped, and outside all calls: what an exception leaves here, the
    level above sets right.

    Raises:
        RecursionError: this thread holds as many own locks as it may; the lock was not taken.
    """
    me = _ident()
    nested = NESTING.of_threads.get(me, 0)
    if nested >= _LEAST_COUNTED:
        NESTING.refuse_beyond_bound()
    with lock:
        try:
            NESTING.of_threads[me] = nested + 1
            return body()
        finally:
            if nested:
                NESTING.of_threads[me] = nested
            else:
                NESTING.of_threads.pop(me, None)


def enter(operation: GuardedTask, me: int) -> None:
    """Take the operation's own lock, which is reentrant.

    Args:
        operation: Whose lock.
        me: ``this_thread()``.

    Raises:
        RecursionError: this thread holds as many own locks as it may; the lock was not taken.
    """
    if NESTING.held >= NESTING.uncounted:
        NESTING.refuse_beyond_bound()
    if PARKING.watcher is not None and (operation._depth == 0 or operation._holder != me):
        PARKING.watcher.before_own(operation)
    if operation._depth == 0:
        operation._holder = me
        operation._depth = 1
    elif operation._holder == me:
        operation._depth += 1
    else:
        _wait_for_own(operation, me)
    NESTING.held += 1
    if NESTING.held > NESTING.uncounted:
        NESTING.count_in()


def leave(operation: GuardedTask) -> None:
    """Let go of the operation's own lock as often as it was taken."""
    NESTING.held -= 1
    if NESTING.uncounted == 0:
        NESTING.count_out()
    operation._depth -= 1
    if PARKING.sleepers and operation._depth == 0:
        PARKING.wake()


def _wait_for_own(operation: GuardedTask, me: int) -> None:
    sleeper = taken_lock()
    while operation._depth:
        PARKING.sleepers.append(sleeper)
        sleeper.acquire()
    operation._holder = me
    operation._depth = 1


def enter_word(operation: GuardedTask) -> None:
    """Take the lock of the word."""
    if PARKING.watcher is not None:
        PARKING.watcher.before_word(operation)
    if operation._word_held:
        _wait_for_word(operation)
    else:
        operation._word_held = True


def leave_word(operation: GuardedTask) -> None:
    """Let go of the lock of the word."""
    operation._word_held = False
    if PARKING.sleepers:
        PARKING.wake()


def _wait_for_word(operation: GuardedTask) -> None:
    sleeper = taken_lock()
    while operation._word_held:
        PARKING.sleepers.append(sleeper)
        sleeper.acquire()
    operation._word_held = True
