"""Timers that go wrong as timing wheels: levels, buckets, the delay queue, the own clock."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.timer import Bucket, SmallTimer, Task
from purgatory_spec.profiles import TimerConfiguration, TimerProfile


@breaks("TIMER-CASCADE").by(SmallTimer.pass_down)
def lost_on_cascade(self: SmallTimer, task: Task) -> None:
    """A task that must be passed down is lost."""


@breaks("TIMER-CASCADE").by(SmallTimer.comes_due)
def expires_with_its_bucket(self: SmallTimer, task: Task) -> bool:
    """A task of a higher level expires with its bucket, up to a bucket's width early."""
    return True


@breaks("TIMER-CASCADE")
class OneBucketPerAdvance(SmallTimer):
    """An advance pops one bucket and leaves the others, though they are due."""

    def advance(self) -> bool:
        self.popped = 0
        return super().advance()

    def is_ready(self, bucket: Bucket) -> bool:
        return self.popped == 0 and super().is_ready(bucket)

    def pop(self, bucket: Bucket) -> list[Task]:
        self.popped += 1
        return super().pop(bucket)

    popped = 0


@breaks("TIMER-BUCKET-REUSE", "TIMER-CASCADE")
class LostOnReuse(SmallTimer):
    """A bucket that was popped once never enters the delay queue again."""

    def offer(self, bucket: Bucket, expiry_ms: int) -> None:
        if bucket not in self.used:
            self.used.append(bucket)
            super().offer(bucket, expiry_ms)

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        self.used: list[Bucket] = []
        super().__init__(configuration, profile)


@breaks("TIMER-OWN-CLOCK").by(SmallTimer.advance)
def follows_clock(self: SmallTimer) -> bool:
    """The own clock follows the clock while the timer is idle."""
    popped = SmallTimer.advance(self)
    if not popped and not self.closed:
        self.own_clock_ms = self.round_down(self.now_ms, self.tick_ms)
    return popped


@breaks("TIMER-OWN-CLOCK").by(SmallTimer.is_due)
def due_by_the_clock(self: SmallTimer, task: Task) -> bool:
    """A task that is due by the clock expires on being added, as the proposal says."""
    return task.due_tick <= self.now_ms


@breaks("TIMER-SPAN").by(SmallTimer.covers)
def span_of_all_buckets(self: SmallTimer, level: int, due_tick: int) -> bool:
    """A level covers its whole interval, so that the present bucket is used."""
    return SmallTimer.covers(self, level, due_tick - self.tick_of(level))


@breaks("TIMER-SPAN").by(SmallTimer.expiry)
def whole_interval_late(self: SmallTimer, delay_ms: int) -> int:
    """A delay of exactly one interval expires a turn late (akka-core#1016)."""
    interval_ms = self.tick_ms * self.wheel_size
    return SmallTimer.expiry(self, delay_ms + interval_ms if delay_ms == interval_ms else delay_ms)


@breaks("TIMER-SPAN").by(SmallTimer.covers)
def third_level_too_wide(self: SmallTimer, level: int, due_tick: int) -> bool:
    """The third level covers one bucket too many."""
    return SmallTimer.covers(self, level, due_tick - (self.tick_of(level) if level == 2 else 0))


@breaks("TIMER-EMPTIED-BUCKET").by(SmallTimer.leave)
def emptied_bucket_leaves(self: SmallTimer, task: Task) -> None:
    """A bucket leaves the delay queue when its last task is cancelled."""
    SmallTimer.leave(self, task)
    if task.bucket is not None and not task.bucket.tasks:
        self.delay_queue.remove(task.bucket)


@breaks("TIMER-DELAY-QUEUE-BOUND", "TIMER-LARGEST-DELAY").by(SmallTimer.offer)
def offered_twice(self: SmallTimer, bucket: Bucket, expiry_ms: int) -> None:
    """A bucket enters the delay queue once for every task."""
    bucket.expiry_ms = expiry_ms
    self.delay_queue.append(bucket)


@breaks("TIMER-OVERFLOW-ON-DEMAND").by(SmallTimer.add_level)
def eager_level(self: SmallTimer) -> None:
    """A level more is made than any task needed."""
    SmallTimer.add_level(self)
    if len(self.levels) == 1:
        SmallTimer.add_level(self)


@breaks("TIMER-WAKE-UP").by(SmallTimer.next_expiry)
def wakes_every_tick(self: SmallTimer) -> int | None:
    """The timer says that it has something to do at the next tick, whether or not it has."""
    return self.own_clock_ms + self.tick_ms if self.delay_queue else None
