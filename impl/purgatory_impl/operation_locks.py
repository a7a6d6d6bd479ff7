"""Taking and leaving the thin locks of a delayed operation: its own, re-entrant, and its word's.

They lie in the operation itself, see ``guarded``, so that nothing is allocated for them. Where the
locks are those of ``threading``, ``with`` takes them: see ``exclusion``.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, final

from purgatory_impl.exclusion import PARKING, THIN, taken_lock
from purgatory_impl.guarded import GuardedTask

_ident: Final = threading.get_ident


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


def enter(operation: GuardedTask, me: int) -> None:
    """Take the operation's own lock, which is reentrant.

    Args:
        operation: Whose lock.
        me: ``this_thread()``.
    """
    if PARKING.watcher is not None and (operation._depth == 0 or operation._holder != me):
        PARKING.watcher.before_own(operation)
    if operation._depth == 0:
        operation._holder = me
        operation._depth = 1
    elif operation._holder == me:
        operation._depth += 1
    else:
        _wait_for_own(operation, me)


def leave(operation: GuardedTask) -> None:
    """Let go of the operation's own lock as often as it was taken."""
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
