"""What a known history is: a trace, of which it is known whether some order explains it."""

from typing import NamedTuple

from purgatory_traces.traces.lines import Instance, ManualClock, TraceLine, WallClock

WALL = WallClock(lateness_ms=50)


class Known(NamedTuple):
    """A trace; ``wrong_at`` is the line that cannot be explained, None where there is none."""

    instance: Instance
    wrong_at: int | None
    lines: tuple[TraceLine, ...]
    clock: ManualClock | WallClock = ManualClock()
    ended_ms: int | None = None


def right(instance: Instance, *lines: TraceLine, ended_ms: int | None = None) -> Known:
    """Some order explains it; ``ended_ms``: it is on a real clock, and ends then."""
    return wrong(instance, None, *lines, ended_ms=ended_ms)


def wrong(
    instance: Instance, wrong_at: int | None, *lines: TraceLine, ended_ms: int | None = None
) -> Known:
    """No order explains it."""
    clock = ManualClock() if ended_ms is None else WALL
    return Known(instance, wrong_at, lines, clock, ended_ms)
