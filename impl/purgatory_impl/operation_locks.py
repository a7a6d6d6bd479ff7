"""Taking and leaving the two locks of a delayed operation: its own, re-entrant, and its word's.

Pure, they are locks of ``threading``. Compiled they are thin, see ``exclusion``, and lie in the
operation itself, see ``guarded``, so that nothing is allocated for them.
"""

from __future__ import annotations

import threading
from typing import Final

from purgatory_impl.exclusion import PARKING, THIN
from purgatory_impl.guarded import GuardedTask

_ident: Final = threading.get_ident


def this_thread() -> int:
    """This thread's identity for thin locks; slower to read than a lock: once per call."""
    return _ident() if THIN else 0


def enter(operation: GuardedTask, me: int) -> None:
    """Take the operation's own lock, which is reentrant.

    Args:
        operation: Whose lock.
        me: ``this_thread()``.
    """
    locks = operation._locks
    if locks is not None:
        locks.own.acquire()
        return
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
    locks = operation._locks
    if locks is not None:
        locks.own.release()
        return
    operation._depth -= 1
    if PARKING.waiting and operation._depth == 0:
        PARKING.wake()


def _wait_for_own(operation: GuardedTask, me: int) -> None:
    with PARKING.freed:
        PARKING.waiting += 1
        try:
            while operation._depth:
                PARKING.freed.wait()
            operation._holder = me
            operation._depth = 1
        finally:
            PARKING.waiting -= 1


def enter_word(operation: GuardedTask) -> None:
    """Take the lock of the word."""
    locks = operation._locks
    if locks is not None:
        locks.word.acquire()
        return
    if PARKING.watcher is not None:
        PARKING.watcher.before_word(operation)
    if operation._word_held:
        _wait_for_word(operation)
    else:
        operation._word_held = True


def leave_word(operation: GuardedTask) -> None:
    """Let go of the lock of the word."""
    locks = operation._locks
    if locks is not None:
        locks.word.release()
        return
    operation._word_held = False
    if PARKING.waiting:
        PARKING.wake()


def _wait_for_word(operation: GuardedTask) -> None:
    with PARKING.freed:
        PARKING.waiting += 1
        try:
            while operation._word_held:
                PARKING.freed.wait()
            operation._word_held = True
        finally:
            PARKING.waiting -= 1
