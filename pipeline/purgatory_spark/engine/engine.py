"""The engine on Spark: the same rows as the local engine, on many cores and machines.

Theory of operation. One job, of two stages::

    shares of files -> read, replay whole runs -> by run -> sort -> replay the rest

- Only the DataFrame API is used, so that it runs unchanged through Spark Connect.
- Files are dealt out to shares of about equal size beforehand, one task for each: a range of
  numbers with as many partitions as shares needs no shuffle to spread them.
- A run whose lines lie in one share is judged by the task that reads it, and its rows alone are
  shuffled; of any other run the lines are, in compressed blocks (see ``pieces``).
- The sort stands directly below the second replay, in the same task, so that nothing can come in
  between and disturb the order; were it lost, the replay would say so and the job would fail. Spark
  changes no number of partitions that is given, and splits none.
- A run that was judged where it was read, and has lines elsewhere after all, as where a log was
  shipped twice, gives no rows: a second job of the same form reads all files again for these runs
  alone, and shuffles all their lines. Beyond ``MOST_AGAIN`` runs it does so for all.
- The rows of all three tables leave the job together, as Parquet parts in a staging folder, so that
  the replay runs once; from there Spark writes the tables (see ``tables``). This process sees a
  summary for each task, and the names and checksums of files.
- A task costs about 65 ms beyond its work, so that their number follows from the bytes.
"""

import logging
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from purgatory_spark.engine.errors import job_failure
from purgatory_spark.engine.progress import describe, run_watched
from purgatory_spark.engine.session import is_connect
from purgatory_spark.engine.splits import Placing, Split, places_of
from purgatory_spark.engine.tables import (
    files_below,
    summary_of,
    write_tables,
)
from purgatory_traces.results.manifest import ResultFile
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.summary.summary import Summary
from purgatory_traces.traces.file_sizes import bytes_of_lines, day_of_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from purgatory_spark.engine.reading import JudgeOrCut, ReadShares

_LOGGER = logging.getLogger(__name__)

BYTES_OF_A_SHARE = 2 << 20
"""The bytes of files that one task reads, about, if there are files enough."""
BYTES_OF_A_PARTITION = 16 << 20
"""The bytes of lines that one task replays, about, if there are runs enough."""
MOST_AGAIN = 10_000
"""The most runs that are read again by their names."""
_MOST_TASKS = 10_000
_SECONDS_TO_CLEAR = 5

_WORKER_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 << 20),
}
"""The settings with which a worker holds little at a time, however long the lines."""


class Input(Protocol):
    """Traces to judge, and the division of work on them: a ``Plan``, or what is elsewhere."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of all files."""

    @property
    def is_empty(self) -> bool:
        """Decide whether the files can have no rows at all; then Spark starts no task."""

    @property
    def partitions(self) -> int:
        """Return the number of tasks that replay."""

    @property
    def tasks(self) -> int:
        """Return the number of all tasks, about."""

    def pieces(
        self, spark: "SparkSession", *, judges: bool = True, only: frozenset[str] | None = None
    ) -> "DataFrame":
        """Return the pieces of the runs in the files, in no order; see also ``JudgeOrCut``."""

    def aside(self, spark: "SparkSession", splits: Collection[Split]) -> Iterable[QuarantineRow]:
        """Return rows about facts that no task knew, when these splits have been read."""


@dataclass(frozen=True)
class Plan:
    """The division of the work on files.

    Attributes:
        files: All files, in the order of their names.
        shares: Which of them one task reads, by number, for each task.
        partitions: How many tasks replay.
    """

    files: tuple[str, ...]
    shares: tuple[tuple[int, ...], ...]
    partitions: int

    @property
    def is_empty(self) -> bool:
        """Decide whether there are no files."""
        return not self.files

    @property
    def tasks(self) -> int:
        """Return the number of all tasks."""
        return len(self.shares) + self.partitions

    def pieces(
        self, spark: "SparkSession", *, judges: bool = True, only: frozenset[str] | None = None
    ) -> "DataFrame":
        """Return the pieces of the runs in the files, in no order; see also ``JudgeOrCut``."""
        from purgatory_spark.engine.pieces import PIECE_COLUMNS
        from purgatory_spark.engine.reading import JudgeOrCut

        shares = spark.range(0, len(self.shares), 1, len(self.shares))
        return shares.mapInArrow(self.reading(JudgeOrCut(judges, only)), PIECE_COLUMNS)

    def aside(self, spark: "SparkSession", splits: Collection[Split]) -> tuple[QuarantineRow, ...]:
        """Return no row: a file is read by one task, which knows all of it."""
        return ()

    def reading(self, then: "JudgeOrCut") -> "ReadShares":
        """Return the work of the reading tasks; ``then`` takes their lines."""
        from purgatory_spark.engine.reading import ReadShares, TraceFile

        files = tuple(
            TraceFile(name, str(Path(name).absolute()), day_of_change(name)) for name in self.files
        )
        return ReadShares(files, self.shares, then)


def plan_of(files: Sequence[str | Path]) -> Plan:
    """Return the plan of the work on these files, by their sizes."""
    names = tuple(sorted({str(file) for file in files}))
    sizes = [max(1, bytes_of_lines(name)) for name in names]
    total = sum(sizes)
    count = max(1, min(len(names), _MOST_TASKS, -(-total // BYTES_OF_A_SHARE)))
    partitions = max(1, min(_MOST_TASKS, -(-total // BYTES_OF_A_PARTITION)))
    return Plan(names, _shares(sizes, count), partitions)


def _shares(sizes: Sequence[int], count: int) -> tuple[tuple[int, ...], ...]:
    """Deal out files by size, the largest first, each to the share that has least."""
    shares: list[list[int]] = [[] for _ in range(count)]
    loads = [(0, which) for which in range(count)]
    heapify(loads)
    for file in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        load, which = loads[0]
        shares[which].append(file)
        heapreplace(loads, (load + sizes[file], which))
    return tuple(tuple(sorted(share)) for share in shares)


def in_order(pieces: "DataFrame", plan: Input) -> "DataFrame":
    """Return the pieces of a run in one partition, and each partition in order."""
    by_run = pieces.repartition(plan.partitions, "run")
    return by_run.sortWithinPartitions("run", "seq", "kind")


def replayed(pieces: "DataFrame", examples: int = 1, *, replays: bool = True) -> "DataFrame":
    """Return the rows of all tables for pieces that are in order, with a summary for each task.

    The arguments are those of ``ReplayPieces``.
    """
    from purgatory_spark.engine.pieces import ROW_COLUMNS
    from purgatory_spark.engine.replaying import ReplayPieces

    return pieces.mapInArrow(ReplayPieces(examples, replays), ROW_COLUMNS)


@dataclass(frozen=True)
class Checked:
    """The facts that this process has of a check on Spark.

    Attributes:
        summary: What was found.
        files: The files of the tables.
    """

    summary: Summary
    files: tuple[ResultFile, ...]


def check_on_spark(
    spark: "SparkSession",
    given: Input,
    whole: str,
    staging: str,
    examples: int = 1,
    *,
    everything: Input | None = None,
) -> Checked:
    """Judge all runs in the files, and write the tables.

    Args:
        spark: Where it runs; its workers must be able to read the files, and to write the folders.
        given: The files, which rows name as it does.
        whole: The address of an empty folder, for the tables.
        staging: That of a folder that can be made, for what is between; the caller removes it.
        examples: How many runs of a cause the summary keeps as examples.
        everything: The files with those that were judged before; of these no more is judged than
            runs that have lines in the others and do not lie whole in one share of them.

    Raises:
        OutOfOrder: lines did not arrive in order; a defect of the engine.
        PipelineError: a job failed for another reason.
        KeyboardInterrupt: Ctrl-C; the jobs are cancelled by then.
    """
    _LOGGER.info(
        "%d files, about %d tasks, of which %d replay",
        len(given.files),
        given.tasks,
        given.partitions,
    )
    for name, value in _WORKER_SETTINGS.items():
        spark.conf.set(name, value)

    def action() -> Checked:
        staged, summary, splits = staged_rows(spark, given, staging, examples, everything)
        is_small = max(given.partitions, everything.partitions if everything else 0) == 1
        aside = list(given.aside(spark, splits))
        for row in aside:
            summary.take(row)
        places = places_of(splits)
        summary.correct(Placing(places))
        write_tables(staged, whole, places, aside, is_small=is_small)
        return Checked(summary, tuple(files_below(spark, whole)))

    try:
        return run_watched(spark, action, tasks=given.tasks, label="replaying on Spark")
    except KeyboardInterrupt:
        if is_connect(spark):
            _wait_for_clearing(staging)
        raise
    except Exception as error:
        raise job_failure(error) from error


def staged_rows(
    spark: "SparkSession",
    given: Input,
    staging: str,
    examples: int,
    everything: Input | None = None,
) -> tuple["DataFrame", Summary, frozenset[Split]]:
    """Return the rows of all runs, staged in a folder, their summary, and the splits read."""
    from purgatory_spark.engine.pieces import ROW_COLUMNS

    describe(spark, "judge runs")
    first, second = f"{staging}/first", f"{staging}/second"
    rows = replayed(in_order(given.pieces(spark), given), examples, replays=everything is None)
    rows.write.parquet(first)
    describe(spark, "fetch summaries")
    written = spark.read.schema(ROW_COLUMNS)  # Spark starts a job to find out what is not said
    staged = written.parquet(first)
    summary, again, splits = summary_of(staged, 0 if given.is_empty else given.partitions, examples)
    if not again:
        return staged, summary, splits
    describe(spark, "read runs again")
    only = runs_to_read_again(staged) if again <= MOST_AGAIN else None
    if only is None:
        _LOGGER.warning("more than %d runs are cut: all lines are read again", MOST_AGAIN)
    else:
        _LOGGER.info("%d runs have lines in several tasks and are read again", again)
    source = everything or given
    pieces = source.pieces(spark, judges=False, only=only)
    replayed(in_order(pieces, source), examples).write.parquet(second)
    anew = written.parquet(second)
    summary_anew, _, splits_anew = summary_of(anew, source.partitions, examples)
    if only is None:
        return anew, summary_anew, splits_anew
    summary.merge(summary_anew)
    return staged.unionByName(anew), summary, splits | splits_anew


def runs_to_read_again(staged: "DataFrame") -> frozenset[str]:
    """Return the runs that were judged in one task and have lines in another."""
    from purgatory_spark.engine.pieces import AGAIN

    rows = staged.where(f"table = '{AGAIN}'").collect()
    return frozenset(bytes(row.payload).decode() for row in rows)


def _wait_for_clearing(staging: str) -> None:
    """Wait a little until a server, which does not wait for its tasks, has cleared away."""
    folder = Path(unquote(urlsplit(staging).path))
    until = time.monotonic() + _SECONDS_TO_CLEAR
    while any(folder.glob("*/_temporary")) and time.monotonic() < until:
        time.sleep(0.1)
