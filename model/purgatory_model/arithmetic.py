"""The integer arithmetic of rounding, levels and buckets.

Every time is an integer number of milliseconds and may be negative. Every function is total on
``tick >= 1`` and ``wheel_size >= 2``; its contract, in the postconditions below each signature, is
checked symbolically over all integers by the tests.
"""


def floor_to(time: int, tick: int) -> int:
    """Return the largest multiple of ``tick`` that is not larger than ``time``.

    pre: tick >= 1
    post: _ <= time < _ + tick
    post: _ % tick == 0

    Rules: TIMER-ROUNDING, TIMER-NEGATIVE-CLOCK.
    """
    return time - time % tick


def ceiling_to(time: int, tick: int) -> int:
    """Return the smallest multiple of ``tick`` that is not smaller than ``time``.

    pre: tick >= 1
    post: _ - tick < time <= _
    post: _ % tick == 0

    Rules: TIMER-ROUNDING.
    """
    return floor_to(time + tick - 1, tick)


def bucket_index(time: int, tick: int, wheel_size: int) -> int:
    """Return the place in its wheel of the bucket that holds ``time``.

    pre: tick >= 1 and wheel_size >= 2
    post: 0 <= _ < wheel_size

    Rules: TIMER-BUCKET-REUSE, TIMER-NEGATIVE-CLOCK.
    """
    return time // tick % wheel_size


def level_end(own_clock: int, tick: int, wheel_size: int) -> int:
    """Return the first time that a level does not cover: its interval, from its present tick.

    pre: tick >= 1 and wheel_size >= 2
    post: own_clock + (wheel_size - 1) * tick < _ <= own_clock + wheel_size * tick

    Rules: TIMER-SPAN.
    """
    return floor_to(own_clock, tick) + tick * wheel_size


def usable_buckets(own_clock: int, tick: int, wheel_size: int) -> int:
    """Return the number of a level's buckets that can hold a task that is not due: all but one.

    pre: tick >= 1 and wheel_size >= 2
    post: _ == wheel_size - 1

    Rules: TIMER-SPAN.
    """
    first_not_due = floor_to(own_clock, tick) + tick
    return (level_end(own_clock, tick, wheel_size) - first_not_due) // tick


def is_covered(due_tick: int, own_clock: int, tick: int, wheel_size: int) -> bool:
    """Decide whether a level can hold a task: its due tick lies before the level's end.

    The level for a delay is the lowest one that covers it: the delay, counted from the present
    tick, is less than the level's interval.

    pre: tick >= 1 and wheel_size >= 2
    post: _ == (due_tick - floor_to(own_clock, tick) < tick * wheel_size)

    Rules: TIMER-SPAN.
    """
    return due_tick < level_end(own_clock, tick, wheel_size)


def level_of(due_tick: int, own_clock: int, tick: int, wheel_size: int) -> int:
    """Return the lowest level, counted from 1, that covers a task which is not due.

    The tick of level ``i`` is ``tick * wheel_size ** (i - 1)``.

    Rules: TIMER-SPAN, TIMER-OVERFLOW-ON-DEMAND.
    """
    level = 1
    level_tick = tick
    while not is_covered(due_tick, own_clock, level_tick, wheel_size):
        level += 1
        level_tick *= wheel_size
    return level


def tick_of_level(level: int, tick: int, wheel_size: int) -> int:
    """Return the tick of a level, counted from 1, in milliseconds.

    Rules: TIMER-SPAN.
    """
    return int(tick * wheel_size ** (level - 1))
