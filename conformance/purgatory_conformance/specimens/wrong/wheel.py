"""Timers that go wrong as timing wheels: levels, buckets, the delay queue, the own clock."""

from purgatory_conformance.specimens.small.timer import Bucket, SmallTimer, Task
from purgatory_spec.profiles import TimerConfiguration, TimerProfile


class LostOnCascade(SmallTimer):
    """A task that must be passed down is lost."""

    def pass_down(self, task: Task) -> None:
        """The popped bucket is forgotten with its tasks."""


class ExpiresWithItsBucket(SmallTimer):
    """A task of a higher level expires with its bucket, up to a bucket's width early."""

    def comes_due(self, task: Task) -> bool:
        """All that comes out of a bucket is due."""
        return True


class OneBucketPerAdvance(SmallTimer):
    """An advance pops one bucket and leaves the others, though they are due."""

    def advance(self) -> bool:
        """The caller is expected to come again."""
        self.popped = 0
        return super().advance()

    def is_ready(self, bucket: Bucket) -> bool:
        """Nothing is, after the first."""
        return self.popped == 0 and super().is_ready(bucket)

    def pop(self, bucket: Bucket) -> list[Task]:
        """Counts."""
        self.popped += 1
        return super().pop(bucket)

    popped = 0


class LostOnReuse(SmallTimer):
    """A bucket that was popped once never enters the delay queue again."""

    def offer(self, bucket: Bucket, expiry_ms: int) -> None:
        """Asks whether the bucket ever had an expiry."""
        if bucket not in self.used:
            self.used.append(bucket)
            super().offer(bucket, expiry_ms)

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """No bucket was used yet."""
        self.used: list[Bucket] = []
        super().__init__(configuration, profile)


class FollowsClock(SmallTimer):
    """The own clock follows the clock while the timer is idle."""

    def advance(self) -> bool:
        """Where nothing is due, the own clock is moved to the reading."""
        popped = super().advance()
        if not popped and not self.closed:
            self.own_clock_ms = self.round_down(self.now_ms, self.tick_ms)
        return popped


class DueByTheClock(SmallTimer):
    """A task that is due by the clock expires on being added, as the proposal says."""

    def is_due(self, task: Task) -> bool:
        """Asks the clock."""
        return task.due_tick <= self.now_ms


class SpanOfAllBuckets(SmallTimer):
    """A level covers its whole interval, so that the present bucket is used."""

    def covers(self, level: int, due_tick: int) -> bool:
        """One bucket more than there is room for."""
        return super().covers(level, due_tick - self.tick_of(level))


class WholeIntervalLate(SmallTimer):
    """A delay of exactly one interval expires a turn late (akka-core#1016)."""

    def expiry(self, delay_ms: int) -> int:
        """The present bucket was visited a moment ago."""
        interval_ms = self.tick_ms * self.wheel_size
        return super().expiry(delay_ms + interval_ms if delay_ms == interval_ms else delay_ms)


class ThirdLevelTooWide(SmallTimer):
    """The third level covers one bucket too many."""

    def covers(self, level: int, due_tick: int) -> bool:
        """Wrong from the third level on: no test with two levels shows it."""
        return super().covers(level, due_tick - (self.tick_of(level) if level == 2 else 0))


class EmptiedBucketLeaves(SmallTimer):
    """A bucket leaves the delay queue when its last task is cancelled."""

    def leave(self, task: Task) -> None:
        """Tidies up."""
        super().leave(task)
        if task.bucket is not None and not task.bucket.tasks:
            self.delay_queue.remove(task.bucket)


class OfferedTwice(SmallTimer):
    """A bucket enters the delay queue once for every task."""

    def offer(self, bucket: Bucket, expiry_ms: int) -> None:
        """Does not ask whether the bucket is queued already."""
        bucket.expiry_ms = expiry_ms
        self.delay_queue.append(bucket)


class EagerLevel(SmallTimer):
    """One level more is made than any task needed."""

    def add_level(self) -> None:
        """To have it ready."""
        super().add_level()
        if len(self.levels) == 1:
            super().add_level()


class WakesEveryTick(SmallTimer):
    """The timer says that it has something to do at the next tick, whether or not it has."""

    def next_expiry(self) -> int | None:
        """As a wheel that turns all the time."""
        return self.own_clock_ms + self.tick_ms if self.delay_queue else None
