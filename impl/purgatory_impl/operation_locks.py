"""Taking and leaving the thin locks of a delayed operation: its own, re-entrant, and its word's.

They lie in the operation itself, see ``guarded``, so that nothing is allocated for them. Where the
locks are those of ``threading``, ``with`` takes them: see ``exclusion``.

A callback may complete a further operation, whose callback completes another one. Each level takes
some of the thread's stack, and compiled nobody but this module counts the levels: so a thread holds
``MOST_NESTED`` own locks at most, and fewer where its stack is smaller than 256 KiB: one for each
2,500 bytes beyond 8 KiB. A further lock is refused with a ``RecursionError`` before anything is
changed, alike in both builds and whatever recursion limit the interpreter has.

Compiled, the locks of one thread are counted by a number, as long as no other thread holds any.
While several threads hold locks, each has its number in a dictionary.

A try, a completion and a time-out wait for an own lock only in a thread that holds none: elsewhere
they are left to the thread that has the lock, see ``left_operations``. No thread waits for one that
holds no own lock, and so no threads wait for each other in a circle.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Final, cast, final

from purgatory_impl.compiler import i32
from purgatory_impl.exclusion import PARKING, THIN, taken_lock
from purgatory_impl.guarded import GuardedTask, OperationLocks
from purgatory_impl.left_operations import LEFT
from purgatory_impl.stacks import stack_bytes

MOST_NESTED: Final = 100
"""The most own locks that a thread may hold, nested; a stack of 256 KiB has room for them.

A check takes two for each operation that it completes, a try and the completion inside it.
"""

BYTES_PER_LOCK: Final = 2500
"""The bytes of a thread's stack that count for one own lock: twice the compiled build's need."""

BYTES_BESIDE: Final = 8192
"""The bytes of a thread's stack that are left to what stands above the locks and below them."""

_LEAST_NESTED: Final = 9
"""The own locks that every thread may hold: the smallest stack, 32 KiB, has room for them."""

HELD: Final = -1
"""The own lock is held by another thread, and this one must not wait."""

_ident: Final = threading.get_ident


@final
class Nesting:
    """The numbers of own locks that threads hold.

    Attributes:
        held: The locks of all threads together, where locks are thin.
        alone: The thread whose locks these are; 0 while several threads hold some.
        of_threads: The locks of each thread that has any, where it is not alone.
    """

    __slots__ = ("alone", "held", "of_threads")

    def __init__(self) -> None:
        self.held: i32 = 0
        self.alone = 0
        self.of_threads: dict[int, int] = {}

    def count_of(self, me: int) -> int:
        """Return the number of own locks that a thread holds."""
        if self.alone:
            return self.held if self.alone == me else 0
        return self.of_threads.get(me, 0)

    def refuse_beyond_bound(self, me: int) -> None:
        """Refuse another own lock to a thread that holds as many as it may.

        Raises:
            RecursionError: this thread holds as many as it may.
        """
        nested = self.count_of(me)
        if nested < _LEAST_NESTED:
            return
        most = _most_nested_here()
        if nested >= most:
            bound = "" if most == MOST_NESTED else "; its stack has room for no more"
            raise RecursionError(
                f"tries and callbacks of operations are nested {most} deep in this thread{bound}; "
                "let callbacks only note what is to be completed, and complete that after them"
            )

    def count_in(self, me: int) -> None:
        """Count a thin lock that was taken by a thread that does not hold all the others."""
        if self.held == 0:
            self.alone = me
        else:
            if self.alone:
                self.of_threads[self.alone] = self.held
                self.alone = 0
            self.of_threads[me] = self.of_threads.get(me, 0) + 1
        self.held += 1

    def count_out(self) -> None:
        """Count out a thin lock of this thread, which is not alone."""
        me = _ident()
        counted = self.of_threads.get(me, 0)
        if counted > 1:
            self.of_threads[me] = counted - 1
        else:
            self.of_threads.pop(me, None)


NESTING: Final = Nesting()
"""The nesting of the own locks of all operations."""


def _most_nested_here() -> int:
    """Return how many own locks this thread may hold."""
    stack = stack_bytes()
    return (
        MOST_NESTED if stack is None else min(MOST_NESTED, (stack - BYTES_BESIDE) // BYTES_PER_LOCK)
    )


def _forget_parent() -> None:
    """Forget, in a child of a fork, the locks that the parent's other threads hold."""
    NESTING.held = 0
    NESTING.alone = 0
    NESTING.of_threads.clear()
    LEFT.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


def this_thread() -> int:
    """Return this thread's identity for thin locks; slower to read than a lock: once per call."""
    return _ident() if THIN else 0


@final
class OwnThinLock:
    """An operation's own thin lock, for ``with``."""

    __slots__ = ("_operation",)

    def __init__(self, operation: GuardedTask) -> None:
        self._operation = operation

    def __enter__(self) -> bool:
        """Take the lock, waiting for it inside tries and callbacks, too."""
        me = this_thread()
        if not enter(self._operation, me):
            _wait_for_own(self._operation, me)
            NESTING.count_in(me)
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let go of the operation's own lock."""
        leave(self._operation)


def own_lock(operation: GuardedTask) -> AbstractContextManager[bool]:
    """Return the operation's own lock, for callers that exclude tries and ``on_complete``.

    It is waited for wherever the caller is, and nothing can be left to the caller: only for an
    operation that belongs to no purgatory yet.
    """
    locks = operation._locks
    return OwnThinLock(operation) if locks is None else locks.own


def under_own_lock(
    operation: GuardedTask, locks: OperationLocks, body: Callable[[], int], waits: bool = True
) -> int:
    """Do something under the own lock, where that is a lock of ``threading``.

    The count is set and not stepped, and outside all calls: what an exception leaves here, the
    level above sets right.

    Args:
        operation: Whose lock.
        locks: Its locks.
        body: What is to be done.
        waits: Whether a thread that holds no own lock waits for this one.

    Returns:
        What the body returns; ``HELD`` where another thread has the lock and this one does not
        wait.

    Raises:
        RecursionError: this thread holds as many own locks as it may; the lock was not taken.
    """
    me = _ident()
    nested = NESTING.of_threads.get(me, 0)
    if nested >= _LEAST_NESTED:
        NESTING.refuse_beyond_bound(me)
    own = locks.own
    # Who holds nothing does not hold this one, whatever an interrupted thread has left here.
    outer = operation._holder if nested else 0
    if outer != me and (nested or not waits):
        return _under_free_lock(operation, own, body, me, nested)
    with own:
        try:
            operation._holder = me
            NESTING.of_threads[me] = nested + 1
            return body()
        finally:
            operation._holder = outer
            if nested:
                NESTING.of_threads[me] = nested
            else:
                NESTING.of_threads.pop(me, None)


def _under_free_lock(
    operation: GuardedTask,
    own: AbstractContextManager[bool],
    body: Callable[[], int],
    me: int,
    nested: int,
) -> int:
    """Do something under the own lock, which this thread does not have, if nobody has it."""
    lock = cast("threading.Lock", own)
    try:
        if not lock.acquire(False):
            return HELD
        # Once more, by the block that lets go of it: then the first time can be undone.
        with own:
            lock.release()
            try:
                operation._holder = me
                NESTING.of_threads[me] = nested + 1
                return body()
            finally:
                operation._holder = 0
                if nested:
                    NESTING.of_threads[me] = nested
                else:
                    NESTING.of_threads.pop(me, None)
    except BaseException:
        # Interrupted between the two, perhaps; where not, this thread does not have it any more.
        with suppress(RuntimeError):
            lock.release()
        raise


def holds(operation: GuardedTask, me: int) -> bool:
    """Decide whether a thread has the own lock of an operation.

    Args:
        operation: Whose lock.
        me: The identity of the calling thread.
    """
    return operation._holder == me and (operation._locks is not None or operation._depth > 0)


def enter(operation: GuardedTask, me: int, waits: bool = True) -> bool:
    """Take the operation's own lock, which is reentrant.

    Args:
        operation: Whose lock.
        me: ``this_thread()``.
        waits: Whether a thread that holds no own lock waits for this one.

    Returns:
        False where another thread has the lock and this one does not wait.

    Raises:
        RecursionError: this thread holds as many own locks as it may; the lock was not taken.
    """
    if NESTING.alone == me:
        if NESTING.held >= _LEAST_NESTED:
            NESTING.refuse_beyond_bound(me)
    elif NESTING.held:
        NESTING.refuse_beyond_bound(me)
    if PARKING.watcher is not None and (operation._depth == 0 or operation._holder != me):
        PARKING.watcher.before_own(operation, waits and NESTING.count_of(me) == 0)
    if operation._depth == 0:
        operation._holder = me
        operation._depth = 1
    elif operation._holder == me:
        operation._depth += 1
    elif not waits or NESTING.count_of(me):
        return False
    else:
        _wait_for_own(operation, me)
    if NESTING.alone == me:
        NESTING.held += 1
    else:
        NESTING.count_in(me)
    return True


def leave(operation: GuardedTask) -> None:
    """Let go of the operation's own lock as often as it was taken."""
    NESTING.held -= 1
    if NESTING.alone == 0:
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
