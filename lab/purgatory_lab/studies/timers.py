"""Timers of the designs: the hierarchical wheel, and the two it was compared with.

They are driven by whoever sets the clock, and count what they do. The discontinuous buckets, one
for each tick that something expires in, are a wheel that never needs a second level
(``NO_LEVELS``). An *entry of the queue* is what the delay queue holds: a bucket, or a request in
the old design. A push or a pop of a heap of ``m`` entries passes at most ``m.bit_length()`` levels
of it; the sum of these is ``queue_steps``.
"""

from heapq import heappop, heappush
from typing import Final, Protocol

from purgatory_lab.studies.counts import Counts

NO_LEVELS: Final = 1 << 62
"""A number of buckets with which all time-outs go into those of one level."""


class StudyTimer(Protocol):
    """A timer of a design; requests are numbers, times are milliseconds."""

    @property
    def queued(self) -> int:
        """Return the number of entries in the delay queue."""

    @property
    def next_due_ms(self) -> int | None:
        """Return the time at which the first entry of the delay queue is due."""

    def add(self, request: int, expiry_ms: int) -> bool:
        """Let a request wait; False where it is due already, and waits nowhere."""

    def remove(self, request: int) -> None:
        """Take the time-out of a request that waits."""

    def advance(self, now_ms: int) -> list[int]:
        """Expire the due requests; the requests that have expired."""


class WheelTimer:
    """The hierarchical timing wheel of the proposal, its buckets in a delay queue.

    Level 1 has ``wheel_size`` buckets of one tick; a bucket of the next level spans a whole turn
    of the level below. A bucket is a dictionary of requests, made when it gets its first one.
    """

    def __init__(self, counts: Counts, tick_ms: int, wheel_size: int) -> None:
        """Make an empty wheel that begins at 0 ms."""
        self._counts = counts
        self._tick_ms = tick_ms
        self._wheel_size = wheel_size
        self._ticks_ms: list[int] = []
        self._clock_ms = 0
        # (expiry, level) is the bucket: two that are in the queue at a time never agree in both.
        self._queue: list[tuple[int, int]] = []
        self._buckets: dict[tuple[int, int], dict[int, int]] = {}
        self._bucket_of: dict[int, dict[int, int]] = {}

    @property
    def queued(self) -> int:
        """Return the number of buckets in the delay queue, emptied ones included."""
        return len(self._queue)

    @property
    def next_due_ms(self) -> int | None:
        """Return the expiry of the first bucket."""
        return self._queue[0][0] if self._queue else None

    def add(self, request: int, expiry_ms: int) -> bool:
        """Put a request on the lowest level that reaches as far as its expiry."""
        level = self._place(request, expiry_ms)
        if level >= 0:
            self._counts.inserted[level] += 1
        return level >= 0

    def remove(self, request: int) -> None:
        """Take a request out of its bucket, which stays in the delay queue."""
        del self._bucket_of.pop(request)[request]

    def advance(self, now_ms: int) -> list[int]:
        """Pop what is due, in the order of expiry; tasks come down or expire."""
        expired: list[int] = []
        counts, queue = self._counts, self._queue
        while queue and queue[0][0] <= now_ms:
            counts.queue_pops += 1
            counts.queue_steps += len(queue).bit_length()
            place = heappop(queue)
            self._clock_ms, level = place
            bucket = self._buckets.pop(place)
            if not bucket:
                counts.popped_empty += 1
            for request, expiry_ms in bucket.items():
                del self._bucket_of[request]
                if self._place(request, expiry_ms) < 0:
                    expired.append(request)
                else:
                    counts.reinserted[level] += 1
        return expired

    def _place(self, request: int, expiry_ms: int) -> int:
        """Put a request into its bucket; the level, from 0, or -1 for a due request."""
        clock_ms = self._clock_ms
        if expiry_ms < clock_ms + self._tick_ms:
            return -1
        level = 0
        for tick_ms in self._ticks_ms:
            if expiry_ms < clock_ms - clock_ms % tick_ms + tick_ms * self._wheel_size:
                break
            level += 1
        else:
            tick_ms = self._overflow_tick_ms(expiry_ms)
            level = len(self._ticks_ms) - 1
        place = (expiry_ms - expiry_ms % tick_ms, level)
        bucket = self._buckets.get(place)
        if bucket is None:
            bucket = self._buckets[place] = {}
            heappush(self._queue, place)
            self._counts.queue_pushes += 1
            self._counts.queue_steps += len(self._queue).bit_length()
        bucket[request] = expiry_ms
        self._bucket_of[request] = bucket
        return level

    def _overflow_tick_ms(self, expiry_ms: int) -> int:
        """Add levels until one reaches as far as the expiry; the tick of that one."""
        while True:
            lowest = not self._ticks_ms
            tick_ms = self._tick_ms if lowest else self._ticks_ms[-1] * self._wheel_size
            self._ticks_ms.append(tick_ms)
            self._counts.inserted.append(0)
            self._counts.reinserted.append(0)
            if expiry_ms < self._clock_ms - self._clock_ms % tick_ms + tick_ms * self._wheel_size:
                return tick_ms


class RequestQueue:
    """The old design: every request is an entry of the delay queue, and stays there when completed.

    Completed requests leave the queue when they are due, or in a purge. A purge goes through the
    whole queue; here what it removes is marked and skipped, which comes to the same counts.
    """

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        counts.inserted.append(0)
        counts.reinserted.append(0)
        self._queue: list[tuple[int, int]] = []
        self._completed: set[int] = set()
        self._purged: set[int] = set()

    @property
    def queued(self) -> int:
        """Return the number of requests in the queue, completed ones included."""
        return len(self._queue) - len(self._purged)

    @property
    def completed(self) -> int:
        """Return the number of completed requests in the queue."""
        return len(self._completed)

    @property
    def next_due_ms(self) -> int | None:
        """Return the expiry of the first request, completed or not."""
        queue, purged = self._queue, self._purged
        while queue and queue[0][1] in purged:
            purged.remove(heappop(queue)[1])
        return queue[0][0] if queue else None

    def add(self, request: int, expiry_ms: int) -> bool:
        """Put a request into the queue, also where it is due."""
        heappush(self._queue, (expiry_ms, request))
        counts = self._counts
        counts.inserted[0] += 1
        counts.queue_pushes += 1
        counts.queue_steps += self.queued.bit_length()
        return True

    def remove(self, request: int) -> None:
        """Leave a completed request in the queue, marked."""
        self._completed.add(request)

    def advance(self, now_ms: int) -> list[int]:
        """Take out all due requests, in the order of their expiries."""
        expired: list[int] = []
        counts = self._counts
        while (due_ms := self.next_due_ms) is not None and due_ms <= now_ms:
            counts.queue_pops += 1
            counts.queue_steps += self.queued.bit_length()
            request = heappop(self._queue)[1]
            if request in self._completed:
                self._completed.remove(request)
                counts.popped_empty += 1
            else:
                expired.append(request)
        return expired

    def purge(self) -> int:
        """Take all completed requests out; how many."""
        removed = len(self._completed)
        self._purged |= self._completed
        self._completed.clear()
        return removed
