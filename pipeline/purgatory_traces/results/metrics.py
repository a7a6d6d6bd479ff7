"""Costs of a check, stage by stage; the file that ``--metrics`` names."""

import msgspec


class StageMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of the work. ``seconds`` is the time of all its tasks together."""

    name: str
    tasks: int
    seconds: float
    rows_read: int = 0
    bytes_read: int = 0
    rows_shuffled: int = 0
    bytes_shuffled: int = 0
    rows_written: int = 0
    bytes_written: int = 0


class CheckMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of a check: lines and bytes of traces, seconds by the clock, and its stages.

    Files of traces on paths are read by Python, so that no stage counts their bytes; ``bytes`` is
    the sum of their sizes.
    """

    engine: str
    lines: int
    bytes: int
    seconds: float
    stages: tuple[StageMetrics, ...]
