"""Timers that expire a task at the wrong time, in the wrong order, or not once."""

from purgatory_conformance.specimens.small.timer import Bucket, Refusal, SmallTimer, Task
from purgatory_spec.operations import Action
from purgatory_spec.reasons import Reason

_PERIOD_OF_64_BITS = 2**64


class OneTickLate(SmallTimer):
    """Fires strictly after the due tick (Kafka's MockTimer; fast/fastimer)."""

    def is_ready(self, bucket: Bucket) -> bool:
        """Compares with < where <= is right."""
        return bucket.expiry_ms < self.now_ms


class EarlyAtTickTen(SmallTimer):
    """Fires one millisecond early where the tick is 10 ms."""

    def is_ready(self, bucket: Bucket) -> bool:
        """Takes the end of the tick before for its beginning."""
        return bucket.expiry_ms - (self.tick_ms == 10) <= self.now_ms


class RoundsUp(SmallTimer):
    """Rounds expiries up without saying so."""

    def due_tick(self, expiry_ms: int) -> int:
        """Never early."""
        return self.round_down(expiry_ms + self.tick_ms - 1, self.tick_ms)


class SkippedTicksLost(SmallTimer):
    """Looks at the present tick alone, so that tasks of skipped ticks stay (agrona#73)."""

    def is_ready(self, bucket: Bucket) -> bool:
        """The bucket's tick must be the present one."""
        return bucket.expiry_ms == self.round_down(self.now_ms, self.tick_of(bucket.level))


class DueTaskWaitsATurn(SmallTimer):
    """A task that became due while the timer was idle waits for the bucket's next turn."""

    def due_tick(self, expiry_ms: int) -> int:
        """Past, but not yet passed by the own clock: one turn later."""
        due_tick = super().due_tick(expiry_ms)
        if self.own_clock_ms < due_tick <= self.now_ms:
            due_tick += self.tick_ms * self.wheel_size
        return due_tick


class TicksBackwards(SmallTimer):
    """Expires the tasks of several ticks with the last tick first."""

    def in_order(self, due: list[Task]) -> list[Task]:
        """As from a stack."""
        return due[::-1]


class LatestOfATickFirst(SmallTimer):
    """Keeps an order inside a tick, as it declares, but the wrong one: the latest arming first."""

    def in_order(self, due: list[Task]) -> list[Task]:
        """By tick, and then backwards."""
        return sorted(due, key=lambda task: (task.due_tick, -task.arming))


class BucketKeepsTasks(SmallTimer):
    """A popped bucket keeps its tasks, which expire again when the bucket is used again."""

    def empty(self, bucket: Bucket) -> list[Task]:
        """A copy."""
        return list(bucket.tasks)


class NegativeRejected(SmallTimer):
    """Rejects negative delays without saying so."""

    def refuse(self, delay_ms: int) -> None:
        """As under ``reject``."""
        if delay_ms < 0 and not self.closed:
            raise Refusal(Reason.INVALID_ARGUMENT)
        super().refuse(delay_ms)


class NegativeWaits(SmallTimer):
    """Takes a negative delay for a positive one (netty#1953: a negative delay fires late)."""

    def expiry(self, delay_ms: int) -> int:
        """The sign is lost."""
        return super().expiry(abs(delay_ms))


class ZeroDropped(SmallTimer):
    """Drops a task whose delay is zero."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """Zero stands for never."""
        if delay_ms != 0 or self.closed:
            super().add(task, delay_ms, script)


class HugeWraps(SmallTimer):
    """The sum of reading and delay wraps at 64 bits, so that a huge delay fires at once (Kafka)."""

    def expiry(self, delay_ms: int) -> int:
        """A sum of two 64-bit integers."""
        expiry_ms = super().expiry(delay_ms)
        half = _PERIOD_OF_64_BITS // 2
        return (expiry_ms + half) % _PERIOD_OF_64_BITS - half


class NegativeClockTruncates(SmallTimer):
    """Rounds towards zero, so that readings below zero are rounded up (Kafka)."""

    def round_down(self, time_ms: int, tick_ms: int) -> int:
        """The division of most languages."""
        return -(-time_ms // tick_ms) * tick_ms if time_ms < 0 else time_ms // tick_ms * tick_ms


class AdvanceAlwaysTrue(SmallTimer):
    """An advance answers true where nothing was due."""

    def advance_result(self, popped: bool, due: list[Task]) -> bool:
        """The advance was made."""
        return True


class ResultOnlyOfRuns(SmallTimer):
    """An advance answers true only where a task expired, as Kafka's interface comment has it."""

    def advance_result(self, popped: bool, due: list[Task]) -> bool:
        """A bucket that only passed tasks down does not count."""
        return bool(due)
