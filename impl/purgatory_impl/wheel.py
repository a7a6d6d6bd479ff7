"""The hierarchical timing wheel: where a task waits, and when it comes down.

Level 1 has ``n`` buckets of one tick each; a bucket of the next level spans one whole turn of the
level below. A task waits on the lowest level that reaches as far as its expiry:

    level 1   one tick a bucket      own clock + 1 tick   ..  own clock + n ticks
    level 2   n ticks a bucket       as far as n * n ticks
    level 3   n * n ticks a bucket   and so on, made when the first task needs it

Nothing turns while nothing is due. Each bucket that has received a task waits in the *delay queue*,
and popping the one that expires first moves the wheel's *own clock* to that expiry. One number is
the clock of every level, since a level's clock is the own clock rounded down to the level's tick.
The tasks of a popped bucket expire or *cascade*: they move to a lower level, where their expiry is
within reach now. A bucket is emptied in one pass: each task of its ring is linked to where it goes,
and at the end the bucket is linked, once, to what is left of its ring.

Why a slot never serves two expiries at a time: level ``i`` takes expiries from its clock plus one
of its ticks to its clock plus ``n`` of its ticks, so ``n - 1`` of its ``n`` buckets. No pending
bucket lies behind the own clock, because buckets are popped in the order of their expiry.

So the queued buckets of a level, read once around from the one that expires first, are in the
order of their expiry. That is why the delay queue is no heap: a level has one bit for each slot and
remembers its first bucket. To queue a bucket sets a bit; to pop one looks for the next bit; the
first bucket of all is the earliest of the levels' first ones, the lower level before the higher.

Tasks that have expired and that nobody took are *kept*: they wait in a bucket of no level, and the
next advance gives them out before it pops anything.

The wheel knows no lock, no thread and no real time. Whoever uses it holds a lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, final

from purgatory_impl.bucket import Bucket, remove
from purgatory_impl.task import Task


@final
class Level:
    """The buckets of one resolution.

    Attributes:
        tick_ms: The span of one bucket.
        interval_ms: The span of all buckets of the level.
        limit_ms: Expiries below it are within reach: the level's clock plus its interval.
        turn_ms: When the level's clock, and so the limit, changes next.
        above: The next coarser level; None for the coarsest.
        below: The next finer level; None for the finest.
        queued: One bit for each slot whose bucket is in the delay queue.
        first_slot: The queued slot that expires first; meaningless while ``queued`` is 0.
        first_ms: The expiry of the bucket in ``first_slot``.
    """

    __slots__ = (
        "above",
        "below",
        "buckets",
        "first_ms",
        "first_slot",
        "interval_ms",
        "limit_ms",
        "queued",
        "tick_ms",
        "turn_ms",
    )

    def __init__(
        self, tick_ms: int, wheel_size: int, clock_ms: int, below: Level | None = None
    ) -> None:
        self.tick_ms = tick_ms
        self.interval_ms = tick_ms * wheel_size
        self.buckets = [Bucket() for _ in range(wheel_size)]
        self.above: Level | None = None
        self.below = below
        self.queued = 0
        self.first_slot = 0
        self.first_ms = 0
        self.limit_ms = 0
        self.turn_ms = 0
        self.turn(clock_ms)

    def turn(self, clock_ms: int) -> None:
        """Set the level's own clock to a reading, rounded down to its tick."""
        own_ms = clock_ms - clock_ms % self.tick_ms
        self.limit_ms = own_ms + self.interval_ms
        self.turn_ms = own_ms + self.tick_ms

    def queue(self, slot: int, expiry_ms: int) -> None:
        """Put the bucket of a slot into the delay queue."""
        bucket = self.buckets[slot]
        bucket.queued = True
        bucket.expiry_ms = expiry_ms
        if self.queued == 0 or expiry_ms < self.first_ms:
            self.first_slot = slot
            self.first_ms = expiry_ms
        self.queued |= 1 << slot

    def pop(self) -> Bucket:
        """Take the first bucket out of the delay queue."""
        slot = self.first_slot
        bucket = self.buckets[slot]
        bucket.queued = False
        left = self.queued ^ (1 << slot)
        self.queued = left
        if left:
            # Round the wheel from the popped slot: first the later slots, then the earlier slots.
            behind = left >> slot
            if behind:
                slot += _lowest_bit(behind)
            else:
                slot = _lowest_bit(left)
            self.first_slot = slot
            self.first_ms = self.buckets[slot].expiry_ms
        return bucket


def _lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


class Wheel:
    """The levels of the wheel, with one delay queue and one own clock.

    Attributes:
        clock_ms: The own clock: the start rounded down to the tick, then the expiry of the last
            bucket popped.
        levels: How many levels exist; they are never taken down. Rules: TIMER-OVERFLOW-ON-DEMAND.
        popped_buckets: How many buckets have been popped so far.
        queued_buckets: How many are in the delay queue. Rules: TIMER-DELAY-QUEUE-BOUND.
        size: Tasks that wait in buckets.
    """

    __slots__ = (
        "_below",
        "_emptying",
        "_finest",
        "_given_again",
        "_kept",
        "_wheel_size",
        "clock_ms",
        "levels",
        "popped_buckets",
        "queued_buckets",
        "size",
    )

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        self._wheel_size = wheel_size
        self.clock_ms = start_ms - start_ms % tick_ms
        self._finest = Level(tick_ms, wheel_size, self.clock_ms)
        # The bucket that is being emptied, and the level below the bucket's own.
        self._emptying: Bucket | None = None
        self._below: Level | None = None
        # Two buckets of no level, in turn: of expired tasks that nobody took, and of those among
        # them that are being given out again.
        self._kept = Bucket()
        self._given_again = Bucket()
        self.levels = 1
        self.popped_buckets = 0
        self.queued_buckets = 0
        self.size = 0

    @property
    def next_expiry_ms(self) -> int | None:
        """Return the expiry of the first bucket in the delay queue, ms; None without a bucket.

        The own clock where expired tasks are kept, or a bucket is being emptied: a failure has
        ended a pass there.

        Rules: TIMER-WAKE-UP.
        """
        if self._emptying is not None or self._kept.queued:
            return self.clock_ms
        level = self._first_level()
        return None if level is None else level.first_ms

    def place(self, task: Task, expiry_ms: int) -> bool:
        """Put a task that is in no bucket into the bucket of its expiry, unless it is due.

        Args:
            task: Gets the expiry, whether or not it has to wait.
            expiry_ms: Any integer, also below zero or in the past.

        Returns:
            False where the task is due by the own clock; it is then in no bucket.

        Rules: TIMER-ROUNDING, TIMER-OWN-CLOCK, TIMER-SPAN, TIMER-NEGATIVE-CLOCK.
        """
        task._expiry_ms = expiry_ms
        # The own clock is a multiple of the tick: this compares the expiry's tick with the clock.
        if expiry_ms < self._finest.turn_ms:
            return False
        level = self._finest
        while expiry_ms >= level.limit_ms:
            above = level.above
            level = self._overflow(level) if above is None else above
        slot = expiry_ms // level.tick_ms % self._wheel_size
        bucket = level.buckets[slot]
        if not bucket.queued:
            level.queue(slot, expiry_ms - expiry_ms % level.tick_ms)
            self.queued_buckets += 1
        bucket.append(task)
        self.size += 1
        return True

    def _overflow(self, highest: Level) -> Level:
        """Add a level above the highest one.

        Rules: TIMER-OVERFLOW-ON-DEMAND.
        """
        level = Level(highest.interval_ms, self._wheel_size, self.clock_ms, highest)
        highest.above = level
        self.levels += 1
        return level

    def remove(self, task: Task) -> bool:
        """Take a task out of its bucket, which holds it no longer and stays in the delay queue.

        Returns:
            Whether the task was in a bucket.

        Rules: TIMER-CANCEL, TIMER-EMPTIED-BUCKET, TIMER-RELEASES.
        """
        if task._next is None:
            return False
        remove(task)
        self.size -= 1
        return True

    def keep(self, tasks: Iterable[Task]) -> None:
        """Take expired tasks back: they are pending again, and due.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        if not self._kept.queued:
            self._kept.queued = True
            self.queued_buckets += 1
        for task in tasks:
            self._kept.append(task)
            self.size += 1

    def give_again(self) -> bool:
        """Let the next advance begin with the tasks that are kept.

        Returns:
            False where that has to wait until the bucket is empty that is being emptied.

        Rules: TIMER-EXECUTOR-REFUSES.
        """
        if not self._kept.queued:
            return True
        if self._emptying is not None:
            return False
        self._kept.queued = False
        self.queued_buckets -= 1
        self._kept, self._given_again = self._given_again, self._kept
        self._emptying = self._given_again
        self._below = None
        return True

    def advance(self, now_ms: int, steps: int, expired: list[Task]) -> bool:
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
        # Counted by hand: compiled, a variable named by an underscore is an object for each turn.
        left = steps
        while left > 0:
            bucket = self._emptying
            if bucket is None:
                left -= 1
                if not self._pop_due(now_ms):
                    return False
            elif bucket.is_empty():
                left -= 1
                self._emptying = None
            else:
                left -= self._empty(bucket, left, expired)
        return True

    def _empty(self, bucket: Bucket, steps: int, expired: list[Task]) -> int:
        """Take tasks out of the popped bucket in one pass, no more than a number of steps.

        No task is unlinked by itself: the bucket gets what is left of its ring at the end, also
        where the pass is interrupted.

        Returns:
            How many were taken, at least one.

        Rules: TIMER-CASCADE.
        """
        due_before_ms = self._finest.turn_ms
        below = self._below
        taken = gone = 0
        cell = after = bucket.ring()
        try:
            while True:
                if taken >= steps or cell is bucket:
                    break
                task = cast("Task", cell)
                behind = task._next
                assert behind is not None
                after = behind
                if below is None or task._expiry_ms < due_before_ms:
                    task._previous = task._next = None
                    gone += 1
                    expired.append(task)
                else:
                    self._move_down(task, below)
                cell = after
                taken += 1
        finally:
            # No call here, at which a second interrupt could come. The task at hand has left the
            # ring where another cell is next to it.
            if cell._next is not after:
                cell = after
            bucket._next = cell
            cell._previous = bucket
            self.size -= gone
        return taken

    def _move_down(self, task: Task, level: Level) -> None:
        """Move a task of the popped bucket to the lowest level that reaches as far as its expiry.

        Args:
            task: Not due by the own clock; still linked to its old neighbours, which forget it.
            level: The one below the popped bucket's, which reaches as far in any case.

        The own clock, the popped bucket's expiry, is a multiple of the level's interval, so that
        slots count from there.
        """
        expiry_ms = task._expiry_ms
        below = level.below
        while below is not None and expiry_ms < below.limit_ms:
            level = below
            below = level.below
        slot = (expiry_ms - self.clock_ms) // level.tick_ms
        bucket = level.buckets[slot]
        if not bucket.queued:
            level.queue(slot, self.clock_ms + slot * level.tick_ms)
            self.queued_buckets += 1
        bucket.append(task)

    def _first_level(self) -> Level | None:
        """Return the level with the first bucket of the delay queue: of equal ones the lowest."""
        first: Level | None = None
        level: Level | None = self._finest
        while level is not None:
            if level.queued and (first is None or level.first_ms < first.first_ms):
                first = level
            level = level.above
        return first

    def _pop_due(self, now_ms: int) -> bool:
        """Pop the first bucket if it is due, and move the own clock to its expiry."""
        first = self._first_level()
        if first is None or first.first_ms > now_ms:
            return False
        self._turn(first.first_ms)
        self._emptying = first.pop()
        self._below = first.below
        self.queued_buckets -= 1
        self.popped_buckets += 1
        return True

    def _turn(self, clock_ms: int) -> None:
        """Set the own clock, and turn the levels whose clocks change with it."""
        self.clock_ms = clock_ms
        level: Level | None = self._finest
        # A level's tick is a multiple of the next finer tick: if that level stands still, stop.
        while level is not None and clock_ms >= level.turn_ms:
            level.turn(clock_ms)
            level = level.above

    def all_levels(self) -> list[Level]:
        """Return the levels, the finest first."""
        found = [self._finest]
        while (above := found[-1].above) is not None:
            found.append(above)
        return found

    def waiting(self) -> list[Task]:
        """Return the tasks in all buckets, in no order that means anything."""
        tasks: list[Task] = []
        for bucket in self._all_buckets():
            task = bucket.first()
            while task is not None:
                tasks.append(task)
                task = bucket.behind(task)
        return tasks

    def _all_buckets(self) -> list[Bucket]:
        """Return every bucket in which a task may wait."""
        found = [self._kept, self._given_again]
        for level in self.all_levels():
            found += level.buckets
        return found

    def drop_all(self) -> list[Task]:
        """Empty every bucket and the delay queue; levels and own clock remain.

        Returns:
            The tasks that were pending, in no order that means anything.

        Rules: TIMER-SHUTDOWN-DROPS.
        """
        dropped: list[Task] = []
        for level in self.all_levels():
            level.queued = 0
            for bucket in level.buckets:
                bucket.queued = False
                while (task := bucket.first()) is not None:
                    dropped.append(task)
                    remove(task)
        for kept in (self._kept, self._given_again):
            kept.queued = False
            while (task := kept.first()) is not None:
                dropped.append(task)
                remove(task)
        self._emptying = None
        self.queued_buckets = 0
        self.size = 0
        return dropped
