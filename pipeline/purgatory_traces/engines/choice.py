"""The choice of the engine that checks the files, with the reason.

Spark takes twenty to thirty seconds of processor time to start and, for each line, more of it than
this process (``docs/reference/trace-figures.md``); it is worth that where there are many lines and
processors. Every command reports the choice in the same words
before it begins. See ``docs/how-to/check-traces.md``.
"""

import os
from collections.abc import Sequence
from enum import Enum
from importlib import metadata
from typing import NamedTuple

import click

from purgatory_conformance.problems import Problem
from purgatory_traces.traces.file_sizes import bytes_of_lines

MOST_LOCAL_LINES = 10_000_000
"""The most lines, about, that are checked in this process unless told otherwise."""

_BYTES_OF_A_LINE = 120


class Engine(Enum):
    """The place where lines are sorted and replayed."""

    LOCAL = "local"
    """The engine that checks in this process."""
    SPARK = "spark"
    """The engine that checks by Spark, here or elsewhere."""


def of_spark(name: str) -> object:
    """Import a function of Spark's engine, which registers itself: nothing here imports it."""
    (found,) = metadata.entry_points(group="purgatory.engines", name=name)
    return found.load()


def preflight() -> None:
    """Look for what Spark needs.

    Raises:
        Problem: something is missing (exit code 5).
    """
    check = of_spark("spark-preflight")
    assert callable(check)
    check()


class Choice(NamedTuple):
    """An engine, and why it was taken."""

    engine: Engine
    why: str


def estimated_lines(files: Sequence[str]) -> int:
    """Return the number of lines in the files, estimated by their sizes."""
    return sum(map(bytes_of_lines, files)) // _BYTES_OF_A_LINE


def tell(choice: Choice) -> None:
    """Say on standard error, before the work, which engine does it and why."""
    click.echo(f"engine {choice.engine.value}: {choice.why}", err=True)


def choose(asked: str, files: Sequence[str], *, elsewhere: str = "") -> Choice:
    """Return the engine for these files.

    Args:
        asked: ``local``, ``spark`` or ``auto``.
        files: What is to be checked.
        elsewhere: Where Spark runs, if that is said.

    Raises:
        Problem: Spark is asked for, and something that it needs is missing (exit code 5).
    """
    if asked == Engine.SPARK.value and not elsewhere:
        preflight()
    if (choice := asked_for(asked, elsewhere)) is not None:
        return choice
    return by_size(files)


def choose_for_addresses(asked: str, elsewhere: str = "") -> Choice:
    """Return the engine where an address of one of Hadoop's file systems is named.

    Raises:
        UsageError: the local engine is asked for, which reads and writes paths alone.
        Problem: something that Spark needs is missing (exit code 5).
    """
    if asked == Engine.LOCAL.value:
        raise click.UsageError("an address like s3a://bucket is of Spark; --engine local has paths")
    if not elsewhere:
        preflight()
    return asked_for(asked, elsewhere) or Choice(Engine.SPARK, "an address is named")


def by_size(files: Sequence[str]) -> Choice:
    """Return the engine that the size of the files suggests, for a user who asks for no engine."""
    lines = estimated_lines(files)
    about = f"about {lines:,} lines"
    if lines < MOST_LOCAL_LINES:
        return Choice(Engine.LOCAL, f"{about}, fewer than {MOST_LOCAL_LINES:,}")
    try:
        preflight()
    except Problem as missing:
        return Choice(Engine.LOCAL, f"{about}, but {missing}")
    return Choice(Engine.SPARK, f"{about}, {MOST_LOCAL_LINES:,} or more")


def choose_for_runs(asked: str, elsewhere: str = "") -> Choice:
    """Return the engine for runs that are made, not read: Spark only where it is asked for.

    Args:
        asked: ``local``, ``spark`` or ``auto``.
        elsewhere: Where Spark runs, if that is said.
    """
    if (choice := asked_for(asked, elsewhere)) is not None:
        return choice
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return Choice(Engine.SPARK, "started by spark-submit")
    return Choice(
        Engine.LOCAL, "no cluster is named; --engine spark takes all processors of this machine"
    )


def asked_for(asked: str, elsewhere: str) -> Choice | None:
    """Return the engine that the user asks for, by name or by a place where Spark runs.

    Raises:
        UsageError: the two exclude each other.
    """
    if asked == Engine.LOCAL.value and elsewhere:
        raise click.UsageError("--master and --remote are of Spark; --engine local has none")
    if asked != "auto":
        return Choice(Engine(asked), "as asked for")
    return Choice(Engine.SPARK, f"{elsewhere} is named") if elsewhere else None
