"""What a known history is: a trace, of which it is known whether some order explains it."""

from typing import NamedTuple

from purgatory_pipeline.traces.lines import Instance, ManualClock, TraceLine, WallClock

WALL = WallClock(lateness_ms=50)


class Known(NamedTuple):
    """A trace; ``wrong_at`` is the line that cannot be explained, None where there is none."""

    instance: Instance
    wrong_at: int | None
    lines: tuple[TraceLine, ...]
    clock: ManualClock | WallClock = ManualClock()
    ended_ms: int | None = None
