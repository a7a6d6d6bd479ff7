"""Which engine checks the files, and why that one.

Spark takes about twenty seconds to start and, per line, twice the work of this process; it is worth
that where there are many lines and processors. See ``docs/how-to/check-traces.md``.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from purgatory_conformance.command_line import Problem
from purgatory_pipeline.spark_preflight import preflight

MOST_LOCAL_LINES = 10_000_000
"""So many lines, about, are still checked in this process if nothing else is asked for."""

_BYTES_OF_A_LINE = 120
_GROWTH = {".gz": 10, ".parquet": 6}
"""How many bytes of lines a byte of such a file holds, about."""


class Engine(Enum):
    """Where the lines are sorted and replayed."""

    LOCAL = "local"
    """In this process."""
    SPARK = "spark"
    """By Spark, here or elsewhere."""


class Choice(NamedTuple):
    """An engine, and why it was taken."""

    engine: Engine
    why: str


def estimated_lines(files: Sequence[str]) -> int:
    """How many lines the files hold, about, by their sizes."""
    total = 0
    for name in files:
        try:
            size = Path(name).stat().st_size
        except OSError:
            continue
        total += size * _GROWTH.get(Path(name).suffix, 1)
    return total // _BYTES_OF_A_LINE


def choose(asked: str, files: Sequence[str], *, elsewhere: bool = False) -> Choice:
    """The engine for these files.

    Args:
        asked: ``local``, ``spark`` or ``auto``.
        files: What is to be checked.
        elsewhere: Whether it is said where Spark runs.

    Raises:
        Problem: Spark is asked for, and something that it needs is missing (exit code 5).
    """
    if asked == Engine.LOCAL.value:
        return Choice(Engine.LOCAL, "as asked for")
    if asked == Engine.SPARK.value or elsewhere:
        if not elsewhere:
            preflight()
        return Choice(Engine.SPARK, "as asked for")
    lines = estimated_lines(files)
    about = f"about {lines:,} lines"
    if lines < MOST_LOCAL_LINES:
        return Choice(Engine.LOCAL, f"{about}, fewer than {MOST_LOCAL_LINES:,}")
    try:
        preflight()
    except Problem as missing:
        return Choice(Engine.LOCAL, f"{about}, but {missing}")
    return Choice(Engine.SPARK, f"{about}, {MOST_LOCAL_LINES:,} or more")
