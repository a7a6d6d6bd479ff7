"""Clocks: where a timer takes the time from, and how its reaper sleeps until a time.

A reading is an integer number of milliseconds. The origin means nothing; readings may be negative.
"""

import threading
import time
from threading import Condition
from typing import Final, Protocol

from purgatory_impl.compiler import mypyc_attr

_NANOSECONDS_PER_MS: Final = 1_000_000
_monotonic_ns: Final = time.monotonic_ns


class Clock(Protocol):
    """A source of time in milliseconds that a timer reads and waits on."""

    def now_ms(self) -> int:
        """Return the present reading in whole milliseconds, rounded down."""

    def wait_until(self, condition: Condition, deadline_ms: int | None) -> None:
        """Wait until the condition is notified or the reading is at least ``deadline_ms``.

        The caller holds the condition's lock and holds it again afterwards. The wait may end
        early, so the caller looks again. Without a deadline only a notification ends it.
        """


def monotonic_ms() -> int:
    """Return the operating system's monotonic clock, truncated to milliseconds."""
    return _monotonic_ns() // _NANOSECONDS_PER_MS


@mypyc_attr(allow_interpreted_subclasses=True)
class MonotonicClock:
    """The operating system's monotonic clock, truncated to milliseconds."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the class alone: a reading would be out of date at once."""
        return f"<{type(self).__name__}>"

    def now_ms(self) -> int:
        """Return milliseconds since an arbitrary origin; never goes back."""
        return monotonic_ms()

    def wait_until(self, condition: Condition, deadline_ms: int | None) -> None:
        """Sleep on the condition until it is notified or the deadline is reached."""
        if deadline_ms is None:
            condition.wait()
            return
        remaining_ns = deadline_ms * _NANOSECONDS_PER_MS - time.monotonic_ns()
        if remaining_ns > 0:
            # A later deadline than the platform can wait for: the caller sleeps again.
            condition.wait(min(remaining_ns / 1e9, threading.TIMEOUT_MAX))


@mypyc_attr(allow_interpreted_subclasses=True)
class VirtualClock:
    """A clock that stands still until it is set: exact time for tests and simulations."""

    __slots__ = ("_lock", "_now_ms", "_sleepers")

    def __init__(self, start_ms: int = 0) -> None:
        self._now_ms = start_ms
        self._lock = threading.Lock()
        self._sleepers: list[tuple[int, Condition]] = []

    def __repr__(self) -> str:
        """Return the class and the reading."""
        return f"<{type(self).__name__} at {self._now_ms} ms>"

    def now_ms(self) -> int:
        """Return the reading that was set last, ms."""
        return self._now_ms

    def set_ms(self, now_ms: int) -> None:
        """Let the clock read ``now_ms`` from now on, and wake whoever sleeps until then.

        Timers without a reaper are left alone; advance them afterwards.
        """
        with self._lock:
            self._now_ms = now_ms
            due = [condition for deadline_ms, condition in self._sleepers if deadline_ms <= now_ms]
        for condition in due:
            with condition:
                condition.notify_all()

    def wait_until(self, condition: Condition, deadline_ms: int | None) -> None:
        """Wait until the condition is notified or the clock is set to the deadline or later."""
        if deadline_ms is None:
            condition.wait()
            return
        sleeper = (deadline_ms, condition)
        with self._lock:
            if deadline_ms <= self._now_ms:
                return
            self._sleepers.append(sleeper)
        condition.wait()
        with self._lock:
            self._sleepers.remove(sleeper)
