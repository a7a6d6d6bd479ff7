"""The hierarchical timing wheel: where a task waits, and when it comes down.

Level 1 has ``n`` buckets of one tick each; a bucket of the next level spans one whole turn of the
level below. A task waits on the lowest level that reaches as far as its expiry:

    level 1   one tick a bucket      own clock + 1 tick   ..  own clock + n ticks
    level 2   n ticks a bucket       as far as n * n ticks
    level 3   n * n ticks a bucket   and so on, made when the first task needs it

Nothing turns while nothing is due. Each bucket that has received a task waits in the *delay queue*,
a heap ordered by expiry, and popping a bucket moves the wheel's *own clock* to that expiry. One
number is the clock of every level, since a level's clock is the own clock rounded down to the
level's tick. The tasks of a popped bucket expire or *cascade*: they are put again, now nearer to
their expiry, and so on a lower level.

Why a slot never serves two expiries at a time: level ``i`` takes expiries from its clock plus one
of its ticks to its clock plus ``n`` of its ticks, so ``n - 1`` of its ``n`` buckets. No pending
bucket lies behind the own clock, because buckets are popped in the order of their expiry.

The wheel knows no lock, no thread and no real time. Whoever uses it holds a lock.
"""

from __future__ import annotations

from heapq import heappop, heappush

from purgatory_impl.bucket import Bucket
from purgatory_impl.task import TimerTask


class Level:
    """The buckets of one resolution; ``number`` counts from 1, the finest."""

    __slots__ = ("buckets", "interval_ms", "number", "tick_ms")

    def __init__(self, number: int, tick_ms: int, wheel_size: int) -> None:
        self.number = number
        self.tick_ms = tick_ms
        self.interval_ms = tick_ms * wheel_size
        self.buckets = [Bucket() for _ in range(wheel_size)]


class Wheel:
    """All levels, their delay queue and their one clock.

    Attributes:
        clock_ms: The own clock: the start rounded down to the tick, then the expiry of the last
            bucket popped.
        popped_buckets: How many buckets have been popped so far.
        size: Tasks that wait in buckets.
    """

    __slots__ = (
        "_delay_queue",
        "_emptying",
        "_levels",
        "_tick_ms",
        "_wheel_size",
        "clock_ms",
        "popped_buckets",
        "size",
    )

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        self._tick_ms = tick_ms
        self._wheel_size = wheel_size
        self._levels = [Level(1, tick_ms, wheel_size)]
        self._delay_queue: list[tuple[int, int, Bucket]] = []
        self._emptying: Bucket | None = None
        self.clock_ms = start_ms - start_ms % tick_ms
        self.popped_buckets = 0
        self.size = 0

    @property
    def levels(self) -> int:
        """Levels that exist; they are never taken down.

        Rules: TIMER-OVERFLOW-ON-DEMAND.
        """
        return len(self._levels)

    @property
    def queued_buckets(self) -> int:
        """Buckets in the delay queue.

        Rules: TIMER-DELAY-QUEUE-BOUND.
        """
        return len(self._delay_queue)

    @property
    def next_expiry_ms(self) -> int | None:
        """Expiry of the first bucket in the delay queue, ms; None where that queue is empty.

        Rules: TIMER-WAKE-UP.
        """
        return self._delay_queue[0][0] if self._delay_queue else None

    def place(self, task: TimerTask, expiry_ms: int) -> bool:
        """Put a task that is in no bucket where it has to wait.

        Args:
            task: Gets the expiry, whether or not it has to wait.
            expiry_ms: Any integer, also below zero or in the past.

        Returns:
            False where the task is due by the own clock; it is then in no bucket.

        Rules: TIMER-ROUNDING, TIMER-OWN-CLOCK, TIMER-SPAN, TIMER-NEGATIVE-CLOCK.
        """
        task._expiry_ms = expiry_ms
        clock_ms = self.clock_ms
        # The own clock is a multiple of the tick: this compares the expiry's tick with it.
        if expiry_ms < clock_ms + self._tick_ms:
            return False
        for level in self._levels:
            if expiry_ms < clock_ms - clock_ms % level.tick_ms + level.interval_ms:
                break
        else:
            level = self._overflow_level(expiry_ms)
        bucket = level.buckets[expiry_ms // level.tick_ms % self._wheel_size]
        if not bucket.queued:
            bucket.queued = True
            bucket.expiry_ms = expiry_ms - expiry_ms % level.tick_ms
            heappush(self._delay_queue, (bucket.expiry_ms, level.number, bucket))
        bucket.append(task)
        self.size += 1
        return True

    def _overflow_level(self, expiry_ms: int) -> Level:
        """Add the levels that are missing, up to the one that reaches as far as the expiry.

        Rules: TIMER-OVERFLOW-ON-DEMAND.
        """
        while True:
            level = Level(len(self._levels) + 1, self._levels[-1].interval_ms, self._wheel_size)
            self._levels.append(level)
            if expiry_ms < self.clock_ms - self.clock_ms % level.tick_ms + level.interval_ms:
                return level

    def remove(self, task: TimerTask) -> bool:
        """Take a task out of its bucket; the bucket stays in the delay queue.

        Returns:
            Whether the task was in a bucket.

        Rules: TIMER-CANCEL, TIMER-EMPTIED-BUCKET.
        """
        bucket = task._bucket
        if bucket is None:
            return False
        bucket.remove(task)
        self.size -= 1
        return True

    def advance(self, now_ms: int, steps: int, expired: list[TimerTask]) -> bool:
        """Do what is due at a reading of the clock, but no more than a number of steps.

        A step pops a bucket or takes one task out of it. Work that is left goes on in the next
        call. Between two calls tasks may be put and removed: none is put into the bucket that is
        being emptied, since its expiry is the own clock.

        Args:
            now_ms: Reading of the clock, ms.
            steps: The bound, at least 1.
            expired: Receives the tasks that are due, earlier ticks first.

        Returns:
            Whether work may be left.

        Rules: TIMER-NOT-EARLY, TIMER-NOT-LATE, TIMER-TICK-ORDER, TIMER-CASCADE, TIMER-BUCKET-REUSE.
        """
        bucket = self._emptying
        for _ in range(steps):
            if bucket is None:
                bucket = self._pop_due(now_ms)
                if bucket is None:
                    return False
            else:
                task = bucket.first
                if task is None:
                    bucket = self._emptying = None
                else:
                    bucket.remove(task)
                    self.size -= 1
                    if not self.place(task, task._expiry_ms):
                        expired.append(task)
        return True

    def _pop_due(self, now_ms: int) -> Bucket | None:
        """Pop the first bucket if it is due, and move the own clock to its expiry."""
        if not self._delay_queue or self._delay_queue[0][0] > now_ms:
            return None
        self.clock_ms, _, bucket = heappop(self._delay_queue)
        bucket.queued = False
        self._emptying = bucket
        self.popped_buckets += 1
        return bucket

    def waiting(self) -> list[TimerTask]:
        """The tasks in all buckets, in no order that means anything."""
        tasks: list[TimerTask] = []
        for level in self._levels:
            for bucket in level.buckets:
                task = bucket.first
                while task is not None:
                    tasks.append(task)
                    task = task._next
        return tasks

    def drop_all(self) -> list[TimerTask]:
        """Empty every bucket and the delay queue; levels and own clock remain.

        Returns:
            The tasks that were pending, in no order that means anything.

        Rules: TIMER-SHUTDOWN-DROPS.
        """
        dropped: list[TimerTask] = []
        for level in self._levels:
            for bucket in level.buckets:
                bucket.queued = False
                while bucket.first is not None:
                    dropped.append(bucket.first)
                    bucket.remove(bucket.first)
        self._delay_queue.clear()
        self.size = 0
        return dropped
