"""Operations that a thread inside a try or a callback leaves to others, so as not to wait there.

Two threads, each inside a try, that wait for each other's operation would wait for ever. So a
thread that holds the own lock of any operation waits for no other own lock. What it was about to do
it notes here, as an *ask*, and goes on. Whoever has that lock looks here after letting go of it,
and does what was asked. Who has noted an ask looks at the lock once more after that: one of the two
sees the other, and no ask is forgotten.

One thread at a time serves asks, the *server*. A second one hands its operation over to that thread
and goes on, so that nobody waits here either. Two tries made for asks therefore never overlap: two
operations whose tries check each other cannot keep each other going for ever. Each ask is left to a
try or a callback of a call, and there are only so many of those.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, final

from purgatory_impl.exclusion import SectionLock, freed_after_fork, pure
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.task import COMPILED

TRY: Final = 1
"""Try the operation."""
FORCE: Final = 2
"""Complete it by force, unless that try has completed it."""
ABANDON: Final = 4
"""Abandon it, unless it is completed."""
EXPIRE: Final = 8
"""Its time-out is due."""

_LOCK: Final = SectionLock() if COMPILED else pure(threading.Lock())
freed_after_fork(_LOCK)

ASKS: Final[dict[int, tuple[GuardedTask, int]]] = {}
"""The operations that were left, by their identity, with what was asked; empty nearly always.

It is changed under the lock, and looked at without it: see above.
"""


@final
class LeftOperations:
    """The operations with asks that can be served, and the thread that serves them.

    Attributes:
        ready: Operations with asks, whose own lock somebody has let go of.
        server: The identity of the thread that serves; 0 where none does.
    """

    __slots__ = ("ready", "server")

    def __init__(self) -> None:
        self.ready: deque[GuardedTask] = deque()
        self.server = 0

    def note(self, operation: GuardedTask, ask: int) -> bool:
        """Leave something to whoever has the own lock of an operation.

        Returns:
            False where another thread has left the same there already.
        """
        with _LOCK:
            _, asked = ASKS.get(id(operation), (operation, 0))
            ASKS[id(operation)] = (operation, asked | ask)
            return not asked & ask

    def begin(self, operation: GuardedTask, me: int) -> bool:
        """See that somebody serves an operation; whether the calling thread is to do it.

        Args:
            operation: What this thread has let go of, or has left to the thread that has it.
            me: The identity of this thread.
        """
        with _LOCK:
            if id(operation) in ASKS:
                self.ready.append(operation)
            # Something is ready here, too, where a server was interrupted.
            if self.server or not self.ready:
                return False
            self.server = me
            return True

    def following(self) -> GuardedTask | None:
        """Return the next operation to be served; None at the end, when serving stops."""
        with _LOCK:
            if self.ready:
                return self.ready.popleft()
            self.server = 0
            return None

    def take(self, operation: GuardedTask) -> int:
        """Return the next request for an operation whose own lock the caller has, or 0."""
        with _LOCK:
            _, asked = ASKS.pop(id(operation), (operation, 0))
            first = asked & -asked
            if asked != first:
                ASKS[id(operation)] = (operation, asked ^ first)
            return first

    def again(self, operation: GuardedTask) -> None:
        """Look once more at an operation that has raised: more may be asked of it."""
        with _LOCK:
            if id(operation) in ASKS:
                self.ready.append(operation)

    def stop(self, me: int, operation: GuardedTask | None) -> None:
        """Serve no more: this thread is interrupted. The next server goes on from here.

        Args:
            me: The identity of this thread.
            operation: What was being served.
        """
        with _LOCK:
            if operation is not None and id(operation) in ASKS:
                self.ready.append(operation)
            if self.server == me:
                self.server = 0

    def forget(self) -> None:
        """Forget the threads of a parent process, and what they have left."""
        ASKS.clear()
        self.ready.clear()
        self.server = 0


LEFT: Final = LeftOperations()
"""The left operations of all purgatories."""
