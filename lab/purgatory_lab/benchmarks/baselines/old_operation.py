"""The delayed operation of the old design: it knows neither its lists nor its place in the queue.

So whoever completes it can do no more than mark it. One lock, the operation's own, is held while
its try and its ``on_complete`` run; it is re-entrant. It is thin where those of the new design are:
two numbers in the operation, and a wait on the condition that all thin locks share.
"""

import threading
from typing import Final, final

from purgatory_impl.compiler import i32, mypyc_attr
from purgatory_impl.exclusion import PARKING, THIN, taken_lock

COMPILED: Final = not __file__.endswith(".py")
"""True if the old design runs as compiled code."""


@mypyc_attr(allow_interpreted_subclasses=True)
class DelayedOperation:
    """Something that waits for a condition, for ``delay_ms`` at most.

    Subclasses override ``try_complete``, ``on_complete`` and, where they wish, ``on_expiration``.
    An operation is used once, and given to one purgatory.
    """

    __slots__ = ("_completed", "_delay_ms", "_depth", "_holder", "_lock")

    def __init__(self, delay_ms: int) -> None:
        """Make an operation that nobody watches yet.

        Args:
            delay_ms: The time-out, whole milliseconds from when it is watched.
        """
        self._delay_ms = delay_ms
        self._completed = False
        self._lock: threading.RLock | None = None if THIN else threading.RLock()
        # The thin lock: whose it is, and how often.
        self._holder = 0
        self._depth: i32 = 0

    def try_complete(self) -> bool:
        """Complete the operation if it can be completed now; overridden by every subclass.

        Calls ``force_complete`` if the condition holds, and returns what that returns.
        """
        raise NotImplementedError("an operation must override try_complete")

    def on_complete(self) -> None:
        """React to the completion: called once, under the operation's own lock."""

    def on_expiration(self) -> None:
        """React to the time-out: called after ``on_complete``, under no lock."""

    @property
    def delay_ms(self) -> int:
        """Return the time-out, ms from when the operation is watched."""
        return self._delay_ms

    @property
    def is_completed(self) -> bool:
        """Decide whether the operation is completed; true before ``on_complete`` is called."""
        return self._completed

    @final
    def force_complete(self) -> bool:
        """Complete the operation, whatever its condition; it stays in the queue and in its lists.

        Returns:
            Whether this call has completed the operation. Exactly one call ever does.

        Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-FORCE, PURGATORY-FORCE-AGAIN,
        PURGATORY-CALLBACK-THROWS.
        """
        if self._completed:
            return False
        _enter(self)
        try:
            won = self._win()
            if won:
                self.on_complete()
        finally:
            _leave(self)
        return won

    @final
    def _try(self) -> bool:
        """Try to complete the operation; whether this try has done it.

        Rules: PURGATORY-COMPLETED-NOT-TRIED.
        """
        _enter(self)
        try:
            if self._completed:
                return False
            return self.try_complete() and self._completed
        finally:
            _leave(self)

    @final
    def _expire(self) -> None:
        """Complete the operation whose time-out is due, unless it is completed already.

        Rules: PURGATORY-TIME-OUT, PURGATORY-LOST-EXPIRY, PURGATORY-CALLBACK-ORDER.
        """
        if self.force_complete():
            self.on_expiration()

    @final
    def _win(self) -> bool:
        """Mark the operation, under its lock; whether nobody had."""
        if self._completed:
            return False
        self._completed = True
        return True


def _enter(operation: DelayedOperation) -> None:
    """Take the operation's lock, which is reentrant."""
    if operation._lock is not None:
        operation._lock.acquire()
        return
    me = threading.get_ident()
    if operation._depth == 0:
        operation._holder = me
        operation._depth = 1
    elif operation._holder == me:
        operation._depth += 1
    else:
        _wait(operation, me)


def _leave(operation: DelayedOperation) -> None:
    """Let go of the operation's lock as often as it was taken."""
    if operation._lock is not None:
        operation._lock.release()
        return
    operation._depth -= 1
    if PARKING.sleepers and operation._depth == 0:
        PARKING.wake()


def _wait(operation: DelayedOperation, me: int) -> None:
    """Wait until the lock is free, and take it."""
    sleeper = taken_lock()
    while operation._depth:
        PARKING.sleepers.append(sleeper)
        sleeper.acquire()
    operation._holder = me
    operation._depth = 1
