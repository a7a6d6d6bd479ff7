"""Dry spells: when a pool could not give what it was asked for, and for how long.

A spell begins when an allocation is refused, and not when the pool runs empty: nobody suffers from
an empty pool that nobody asks. It ends at the next allocation that succeeds or the next release,
even if the pool is still short after that. Times are the clock's whole milliseconds.
"""

from collections import deque

from purgatory_impl.clocks import Clock


class DrySpells:
    """The spells of one pool; whoever uses it holds a lock.

    Attributes:
        ended: How many spells have ended.
        total_ms: How long those took together.
    """

    __slots__ = ("_clock", "_recent", "_since_ms", "_window_ms", "ended", "total_ms")

    def __init__(self, clock: Clock, window_ms: int) -> None:
        self.ended = 0
        self.total_ms = 0
        self._clock = clock
        self._window_ms = window_ms
        self._since_ms: int | None = None
        # Begin and end of those that may reach into the window. Each takes a millisecond at
        # least, so there are never more than the window has milliseconds.
        self._recent: deque[tuple[int, int]] = deque()

    def begin(self) -> None:
        """Begin a spell when an allocation is refused; change nothing within a spell.

        Rules: POOL-SPELL-BEGINS.
        """
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()

    def end(self) -> None:
        """End the spell when an allocation succeeds or a buffer comes back.

        Rules: POOL-SPELL-ENDS, POOL-DEPLETED-TIME.
        """
        if self._since_ms is None:
            return
        since_ms, now_ms = self._since_ms, self._clock.now_ms()
        self._since_ms = None
        self.ended += 1
        self.total_ms += now_ms - since_ms
        if now_ms > since_ms:
            self._forget_before(now_ms - self._window_ms)
            self._recent.append((since_ms, now_ms))

    def present_ms(self) -> int:
        """Return the length of the spell that is under way, ms; 0 without one."""
        return 0 if self._since_ms is None else self._clock.now_ms() - self._since_ms

    def percent(self) -> float:
        """Return the share of the window that ends now in which a spell was under way, 0 to 100."""
        now_ms = self._clock.now_ms()
        begin_ms = now_ms - self._window_ms
        self._forget_before(begin_ms)
        dry_ms = sum(end_ms - max(since_ms, begin_ms) for since_ms, end_ms in self._recent)
        if self._since_ms is not None:
            dry_ms += now_ms - max(self._since_ms, begin_ms)
        return 100 * dry_ms / self._window_ms

    def _forget_before(self, begin_ms: int) -> None:
        while self._recent and self._recent[0][1] <= begin_ms:
            self._recent.popleft()
