"""The line: receivers that were refused memory wait in it, and memory that comes back is theirs.

A pool refuses and never waits. Where several receivers are refused, somebody must say who is next,
or one that is always late starves. Here the first that was refused is the first that gets memory,
across all network threads, and a newcomer stands behind everybody who waits.

The pool is asked again after a receiver has joined the line: memory that came back in between is
not overlooked. Whoever releases serves the line, in his own thread; ``grant`` must therefore be
short, and may be called by any thread.
"""

import threading
from collections import deque
from typing import Protocol

from purgatory_impl.clocks import Clock, MonotonicClock
from purgatory_impl.depletion import DrySpells
from purgatory_impl.memory_pool import MemoryPool


class Receiver(Protocol):
    """A party that asks for memory, and may have to wait for it."""

    def grant(self, buffer: memoryview) -> None:
        """Take the memory that the receiver has waited for; called once, under the line's lock."""


class MemoryLine:
    """A memory pool with a line of those who wait for it.

    Releases must come through the line: it cannot know of those that are made to the pool itself.
    """

    def __init__(
        self, pool: MemoryPool, *, clock: Clock | None = None, window_ms: int = 30_000
    ) -> None:
        """Make a line of receivers in front of a pool.

        Args:
            pool: Where the memory comes from.
            clock: Measures how long the line has not been empty; a ``MonotonicClock`` when absent.
            window_ms: What ``depleted_percent`` looks back on, ms.
        """
        self.pool = pool
        self._line: deque[tuple[Receiver, int]] = deque()
        self._lock = threading.Lock()
        self._spells = DrySpells(MonotonicClock() if clock is None else clock, window_ms)

    def ask(self, receiver: Receiver, bytes_: int) -> memoryview | None:
        """Return a buffer; or None, and the receiver waits until its ``grant`` is called.

        Args:
            receiver: Who asks, and does not wait yet.
            bytes_: How much, in bytes.

        Raises:
            InvalidAllocation: the pool can never give so much.

        Rules: MUTING-FIRST-COME, MUTING-WAIT, MUTING-SERVED.
        """
        if not self._line:
            buffer = self.pool.try_allocate(bytes_)
            if buffer is not None:
                return buffer
        with self._lock:
            if not self._line:
                self._spells.begin()
            self._line.append((receiver, bytes_))
            self._serve()
        return None

    def release(self, buffer: memoryview) -> None:
        """Give a buffer back, to whoever is first in the line.

        Raises:
            InvalidRelease: the pool does not take it back.

        Rules: MUTING-RELEASE, MUTING-RECOVER, MUTING-FIRST-COME.
        """
        self.pool.release(buffer)
        if self._line:
            with self._lock:
                self._serve()

    def leave(self, receiver: Receiver) -> bool:
        """Wait no longer; whether the receiver did wait.

        If not, the memory has been granted, and is the receiver's to give back.
        """
        with self._lock:
            for place, (each, _) in enumerate(self._line):
                if each is receiver:
                    del self._line[place]
                    self._serve()
                    return True
        return False

    @property
    def waiting(self) -> int:
        """Return the number of receivers that wait."""
        return len(self._line)

    @property
    def depleted_percent(self) -> float:
        """Return the share of the last ``window_ms`` in which a receiver waited, 0 to 100."""
        with self._lock:
            return self._spells.percent()

    @property
    def depleted_ms(self) -> int:
        """Return the total time in which receivers waited, ms; a present spell is counted so far.

        Rules: MUTING-DEPLETED.
        """
        with self._lock:
            return self._spells.total_ms + self._spells.present_ms()

    def _serve(self) -> None:
        while self._line:
            receiver, bytes_ = self._line[0]
            buffer = self.pool.try_allocate(bytes_)
            if buffer is None:
                return
            self._line.popleft()
            receiver.grant(buffer)
        self._spells.end()
