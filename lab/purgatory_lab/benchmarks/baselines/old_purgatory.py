"""The old design: the purgatory as Kafka had it before the hierarchical timing wheel.

What the proposal says of it, and where that is in this package:

- the timer is a delay queue of requests, O(log n) (``delay_queue``);
- a completed request leaves neither the timer nor the lists of its other keys; it goes when a check
  meets it, when it is due, or in a purge (``old_watcher_lists``, ``delay_queue``);
- a purge goes through the whole timer queue and all lists, and is made when the purgatory holds
  more requests, pending or completed, than the configured number. The discussion of the proposal is
  more precise: when the size of the lists *or* that of the queue exceeds the purge interval, and
  that is looked at each time that the expiration thread wakes up (``Purgatory.advance``).

What it leaves open is taken in favour of the old design:

- one wake-up takes out all that is due by then, and looks once whether to purge. Kafka 0.8.2 takes
  out one request and looks after each that has expired: ``purge_after_each`` has it so;
- the queue is purged by one filter and a new heap, O(n), and not by one deletion after the other;
- the sizes are counted, not summed over all lists;
- the exception of a second try does not cost the operation its time-out.

The expiration thread sleeps 200 ms at most, as in Kafka 0.8.2, and runs the time-outs itself.
There is no ``cancel_for_key``, no purgatory without time-outs, and no watching twice. The user's
interface is otherwise that of ``purgatory_impl``.

Locks, in the order in which they may be taken: an operation's own, then that of the lists or that
of the queue, never one of these inside the other. User code runs under an operation's own lock and
no other. A key's ``__hash__`` and ``__eq__`` must neither fail nor call the purgatory.
"""

import logging
import threading
from collections.abc import Iterable
from typing import Final, Generic

from purgatory_impl import (
    Clock,
    InvalidConfiguration,
    MonotonicClock,
    NoKeys,
    PurgatoryClosed,
    VirtualClock,
)
from purgatory_lab.benchmarks.baselines.delay_queue import DelayQueue
from purgatory_lab.benchmarks.baselines.old_operation import DelayedOperation
from purgatory_lab.benchmarks.baselines.old_watcher_lists import Key, WatcherLists

POLL_MS: Final = 200
"""The longest sleep of the expiration thread, ms."""

_LOGGER: Final = logging.getLogger("purgatory")


class Purgatory(Generic[Key]):
    """Delayed operations, watched under keys; all methods may be called from any thread."""

    def __init__(
        self,
        name: str = "old-purgatory",
        *,
        purge_interval: int = 1000,
        clock: Clock | None = None,
        purge_after_each: bool = False,
    ) -> None:
        """Build the purgatory and start its expiration thread.

        Args:
            name: Appears in the name of the thread.
            purge_interval: A purge is due when there are more entries in the lists than so many,
                or more requests in the queue; at least 0.
            clock: Where the time comes from; a ``MonotonicClock`` when absent. A thread expires and
                purges, unless it is a ``VirtualClock``: then call ``advance``.
            purge_after_each: Whether to look for a purge after each operation that has expired, and
                not once for all that are due.

        Raises:
            InvalidConfiguration: the interval is negative.
        """
        if purge_interval < 0:
            raise InvalidConfiguration(f"purge_interval is {purge_interval}; it must be at least 0")
        self._purge_interval = purge_interval
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._lists: WatcherLists[Key] = WatcherLists()
        self._queue = DelayQueue(self._clock)
        self._closed = False
        self._purge_after_each = purge_after_each
        self._reaper: threading.Thread | None = None
        if not isinstance(self._clock, VirtualClock):
            self._reaper = threading.Thread(target=self._reap, name=f"{name}-reaper", daemon=True)
            self._reaper.start()

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Iterable[Key]) -> bool:
        """Try to complete an operation; where that is not possible yet, watch it under each key.

        It is tried once before it is watched and once after.

        Args:
            operation: Not watched before.
            keys: At least one. A key given twice makes two entries.

        Returns:
            Whether this call has completed the operation.

        Raises:
            PurgatoryClosed: the purgatory is closed; the operation was not tried.
            NoKeys: there is no key; the operation was not tried.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS,
        PURGATORY-NO-KEYS, PURGATORY-SECOND-TRY-THROWS, PURGATORY-SHUTDOWN-CLOSED.
        """
        if self._closed:
            raise PurgatoryClosed
        watched = tuple(keys)
        if not watched:
            raise NoKeys
        if operation._try():
            return True
        if operation._completed:
            return False
        self._lists.append(watched, operation)
        try:
            return operation._try()
        finally:
            if not operation._completed:
                self._queue.push(operation, self._clock.now_ms() + operation._delay_ms)

    def check_and_complete(self, key: Key) -> int:
        """Try all operations watched under a key, oldest first.

        Returns:
            How many operations this call has completed.

        Raises:
            Exception: what an operation has raised; those behind it were not tried.

        Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-COUNT, PURGATORY-CHECK-UNKNOWN.
        """
        return self._lists.try_all(key)

    def advance(self) -> None:
        """Expire what is due at the clock's present reading, then purge if a purge is due.

        Rules: PURGATORY-TIME-OUT, PURGATORY-EXPIRY-THROWS.
        """
        now_ms = self._clock.now_ms()
        each = self._purge_after_each
        looked = False
        while True:
            due = self._queue.take_due(now_ms)
            if not due:
                break
            for operation in due:
                try:
                    operation._expire()
                except Exception:
                    _LOGGER.exception("The time-out of %r failed", operation)
                if each:
                    self._purge_if_due()
                    looked = True
        if not looked:
            self._purge_if_due()

    def purge(self) -> int:
        """Go through the whole queue and all lists, and take completed operations out.

        Returns:
            How many entries have left the lists.

        Rules: PURGATORY-PURGE-REMOVES.
        """
        self._queue.purge()
        return self._lists.purge()

    def close(self, timeout_ms: int = 5000) -> None:
        """Watch nothing any more, drop the time-outs, and end the expiration thread.

        Operations stay in their lists. May be called again, and from inside a callback.

        Args:
            timeout_ms: How long to wait for the thread; not at all from inside it.

        Rules: PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-COMPLETES, PURGATORY-SHUTDOWN-AGAIN.
        """
        self._closed = True
        self._queue.close()
        reaper = self._reaper
        if reaper is not None and reaper is not threading.current_thread():
            reaper.join(timeout_ms / 1000)
            if reaper.is_alive():
                _LOGGER.warning("Thread %s has not ended after %d ms", reaper.name, timeout_ms)

    def watched(self) -> dict[Key, list[DelayedOperation]]:
        """Return the contents of each list, completed operations included: for diagnosis."""
        return self._lists.by_key()

    @property
    def entries(self) -> int:
        """Return the sum of the lengths of all lists, completed operations included."""
        return self._lists.entries

    @property
    def keys(self) -> int:
        """Return the number of keys under which operations are watched."""
        return self._lists.keys

    @property
    def delayed(self) -> int:
        """Return the number of requests in the delay queue, completed ones included."""
        return self._queue.length

    def _purge_if_due(self) -> None:
        interval = self._purge_interval
        if self._lists.entries > interval or self._queue.length > interval:
            self.purge()

    def _reap(self) -> None:
        """Run the expiration thread: sleep, advance, until the purgatory is closed."""
        while self._queue.wait_until_due(POLL_MS):
            try:
                self.advance()
            except Exception:
                # A finaliser of what was removed may fail.
                _LOGGER.exception("A pass of the expiration thread failed")
