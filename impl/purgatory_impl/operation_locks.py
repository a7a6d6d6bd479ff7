"""The two locks of a delayed operation: its own, which is re-entrant, and that of its word.

Pure, they are locks of ``threading``. Compiled they are thin, see ``exclusion``, and lie in the
operation itself, so that nothing is allocated for them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from purgatory_impl.exclusion import PARKING

if TYPE_CHECKING:
    from purgatory_impl.delayed_operation import DelayedOperation

_ident: Final = threading.get_ident


def enter(operation: DelayedOperation) -> None:
    """Take the operation's own lock, once more where this thread has it."""
    lock = operation._lock
    if lock is not None:
        lock.acquire()
        return
    me = _ident()
    if operation._depth == 0:
        operation._holder = me
        operation._depth = 1
    elif operation._holder == me:
        operation._depth += 1
    else:
        _wait_for_own(operation, me)


def leave(operation: DelayedOperation) -> None:
    """Let go of the operation's own lock as often as it was taken."""
    lock = operation._lock
    if lock is not None:
        lock.release()
        return
    operation._depth -= 1
    if PARKING.waiting and operation._depth == 0:
        PARKING.wake()


def _wait_for_own(operation: DelayedOperation, me: int) -> None:
    with PARKING.freed:
        PARKING.waiting += 1
        try:
            while operation._depth:
                PARKING.freed.wait()
            operation._holder = me
            operation._depth = 1
        finally:
            PARKING.waiting -= 1


def enter_word(operation: DelayedOperation) -> None:
    """Take the lock of the word."""
    lock = operation._word
    if lock is not None:
        lock.acquire()
    elif operation._word_held:
        _wait_for_word(operation)
    else:
        operation._word_held = True


def leave_word(operation: DelayedOperation) -> None:
    """Let go of the lock of the word."""
    lock = operation._word
    if lock is not None:
        lock.release()
        return
    operation._word_held = False
    if PARKING.waiting:
        PARKING.wake()


def _wait_for_word(operation: DelayedOperation) -> None:
    with PARKING.freed:
        PARKING.waiting += 1
        try:
            while operation._word_held:
                PARKING.freed.wait()
            operation._word_held = True
        finally:
            PARKING.waiting -= 1
