"""Places in a timing wheel: the bucket of a due tick, and a bucket's index in its ring."""

from purgatory_model.arithmetic import bucket_index, level_end, level_of
from purgatory_model.timing_wheel import Bucket, TimingWheel


def is_boundary(wheel: TimingWheel, due_tick: int) -> bool:
    """Decide whether a due tick tells whether the levels have their right spans."""
    if due_tick <= wheel.own_clock_ms:
        return False
    return in_last_bucket(wheel, due_tick) or is_first_beyond(wheel, due_tick)


def in_last_bucket(wheel: TimingWheel, due_tick: int) -> bool:
    """Decide whether a due tick that has not passed falls into the last bucket of its level."""
    level = level_of(due_tick, wheel.own_clock_ms, wheel.tick_ms, wheel.wheel_size)
    tick = wheel.tick_of(level)
    return due_tick >= level_end(wheel.own_clock_ms, tick, wheel.wheel_size) - tick


def is_first_beyond(wheel: TimingWheel, due_tick: int) -> bool:
    """Decide whether a due tick falls into the first bucket that the level below does not cover."""
    level = level_of(due_tick, wheel.own_clock_ms, wheel.tick_ms, wheel.wheel_size)
    if level == 1:
        return False
    tick = wheel.tick_of(level - 1)
    return due_tick < level_end(wheel.own_clock_ms, tick, wheel.wheel_size) + tick


def place_of(wheel: TimingWheel, bucket: Bucket) -> tuple[int, int]:
    """Return the place of a bucket in the rings: the level, and the index in the level."""
    expiry_ms, level = bucket
    return level, bucket_index(expiry_ms, wheel.tick_of(level), wheel.wheel_size)
