"""Timers that expire a task at the wrong time, in the wrong order, or not once."""

import msgspec

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.other_timers import HeapTimer
from purgatory_conformance.specimens.small.specimen import Refusal
from purgatory_conformance.specimens.small.timer import (
    FIFO_PROFILE,
    PROFILE,
    Bucket,
    Script,
    SmallTimer,
    Task,
)
from purgatory_spec import profiles
from purgatory_spec.reasons import Reason

_PERIOD_OF_64_BITS = 2**64

LONG_PROFILE = msgspec.structs.replace(
    PROFILE,
    executor=profiles.Executor.INLINE,
    structure=profiles.Structure.ANY,
    largest_delay_ms=profiles.LARGEST_SAFE_INTEGER,
    larger_delay=profiles.LargerDelay.NOT_OFFERED,
    features=frozenset({profiles.Feature.CANCEL, profiles.Feature.READD}),
    observables=frozenset({profiles.Observable.SIZE}),
)
"""A timer that runs what is due at once, with delays of as many ms as a double can count."""


@breaks("TIMER-NOT-LATE", "TIMER-ADVANCE-INSIDE").by(SmallTimer.is_ready)
def one_tick_late(self: SmallTimer, bucket: Bucket) -> bool:
    """Fires strictly after the due tick (Kafka's MockTimer; fast/fastimer)."""
    return bucket.expiry_ms < self.now_ms


@breaks("TIMER-NOT-EARLY").by(SmallTimer.is_ready)
def early_at_tick_ten(self: SmallTimer, bucket: Bucket) -> bool:
    """Fires one millisecond early where the tick is 10 ms."""
    return bucket.expiry_ms - (self.tick_ms == 10) <= self.now_ms


@breaks("TIMER-ROUNDING").by(SmallTimer.due_tick)
def rounds_up(self: SmallTimer, expiry_ms: int) -> int:
    """Rounds expiries up without saying so."""
    return self.round_down(expiry_ms + self.tick_ms - 1, self.tick_ms)


@breaks("TIMER-NOT-LATE").by(SmallTimer.is_ready)
def skipped_ticks_lost(self: SmallTimer, bucket: Bucket) -> bool:
    """Looks at the present tick alone, so that tasks of skipped ticks stay (agrona#73)."""
    return bucket.expiry_ms == self.round_down(self.now_ms, self.tick_of(bucket.level))


@breaks("TIMER-ALREADY-DUE", "TIMER-ADD-INSIDE", "TIMER-ROUNDING").by(SmallTimer.due_tick)
def due_task_waits_a_turn(self: SmallTimer, expiry_ms: int) -> int:
    """A task that became due while the timer was idle waits for the bucket's next turn."""
    due_tick = SmallTimer.due_tick(self, expiry_ms)
    if self.own_clock_ms < due_tick <= self.now_ms:
        due_tick += self.tick_ms * self.wheel_size
    return due_tick


@breaks("TIMER-TICK-ORDER").by(SmallTimer.in_order)
def ticks_backwards(self: SmallTimer, due: list[Task]) -> list[Task]:
    """Expires the tasks of several ticks with the last tick first."""
    return due[::-1]


@breaks("TIMER-SAME-TICK-ORDER", profile=FIFO_PROFILE).by(SmallTimer.in_order)
def latest_of_a_tick_first(self: SmallTimer, due: list[Task]) -> list[Task]:
    """Keeps an order inside a tick, as it declares, but the wrong one: the latest arming first."""
    return sorted(due, key=lambda task: (task.due_tick, -task.arming))


@breaks("TIMER-EXACTLY-ONCE", "TIMER-RELEASES").by(SmallTimer.empty)
def bucket_keeps_tasks(self: SmallTimer, bucket: Bucket) -> list[Task]:
    """A popped bucket keeps its tasks, which expire again when the bucket is used again."""
    return list(bucket.tasks)


@breaks("TIMER-NEGATIVE-DELAY").by(SmallTimer.refuse)
def negative_rejected(self: SmallTimer, delay_ms: int) -> None:
    """Rejects negative delays without saying so."""
    if delay_ms < 0 and not self.closed:
        raise Refusal(Reason.INVALID_ARGUMENT)
    SmallTimer.refuse(self, delay_ms)


@breaks("TIMER-NEGATIVE-DELAY").by(SmallTimer.expiry)
def negative_waits(self: SmallTimer, delay_ms: int) -> int:
    """Takes a negative delay for a positive one (netty#1953: a negative delay fires late)."""
    return SmallTimer.expiry(self, abs(delay_ms))


@breaks("TIMER-ZERO-DELAY").by(SmallTimer.add)
def zero_dropped(self: SmallTimer, task: Task, delay_ms: int, script: Script = None) -> None:
    """Drops a task whose delay is zero."""
    if delay_ms != 0 or self.closed:
        SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-LARGEST-DELAY").by(SmallTimer.expiry)
def huge_wraps(self: SmallTimer, delay_ms: int) -> int:
    """The sum of reading and delay wraps at 64 bits, so that a huge delay fires at once (Kafka)."""
    expiry_ms = SmallTimer.expiry(self, delay_ms)
    half = _PERIOD_OF_64_BITS // 2
    return (expiry_ms + half) % _PERIOD_OF_64_BITS - half


@breaks("TIMER-NEGATIVE-CLOCK").by(SmallTimer.round_down)
def negative_clock_truncates(self: SmallTimer, time_ms: int, tick_ms: int) -> int:
    """Rounds towards zero, so that readings below zero are rounded up (Kafka)."""
    return -(-time_ms // tick_ms) * tick_ms if time_ms < 0 else time_ms // tick_ms * tick_ms


@breaks("TIMER-IDLE-ADVANCE").by(SmallTimer.advance_result)
def advance_always_true(self: SmallTimer, popped: bool, due: list[Task]) -> bool:
    """An advance answers true where nothing was due."""
    return True


@breaks("TIMER-ADVANCE-RESULT").by(SmallTimer.advance_result)
def result_only_of_runs(self: SmallTimer, popped: bool, due: list[Task]) -> bool:
    """An advance answers true only where a task expired, as Kafka's interface comment has it."""
    return bool(due)


@breaks("TIMER-NOT-LATE", profile=LONG_PROFILE).by(HeapTimer.expiry)
def far_delays_are_late(self: HeapTimer, delay_ms: int) -> int:
    """A delay above 2^30 ms is far too late."""
    return SmallTimer.expiry(self, delay_ms) + (2**52 if delay_ms > 2**30 else 0)


@breaks("TIMER-NOT-EARLY", profile=LONG_PROFILE).by(HeapTimer.expiry)
def saturates_silently(self: HeapTimer, delay_ms: int) -> int:
    """A delay above 100,000 ms is taken for one of 100,000 ms."""
    return SmallTimer.expiry(self, min(delay_ms, 100_000))
