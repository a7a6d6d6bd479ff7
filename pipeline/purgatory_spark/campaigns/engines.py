"""Engines of a campaign: this process, or tasks of Spark."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import pyarrow as pa

from purgatory_spark.engine.errors import job_failure
from purgatory_spark.engine.progress import run_watched
from purgatory_spark.engine.session import is_connect
from purgatory_traces.engines.progress_bar import progress_bar
from purgatory_traces.results.arrow_columns import spark_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Work: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ROWS_BETWEEN_LOOKS = 100
_TASKS_OF_A_CORE = 2
_LEAST_ROWS_OF_A_TASK = 4
_CORES_BEHIND_CONNECT = 8


class Engine(Protocol):
    """Maps a function over a table; the rows of the result may come in any order."""

    @property
    def is_here(self) -> bool:
        """Decide whether the engine does all work in this process."""

    @property
    def cores(self) -> int:
        """Return the number of runs that go on at a time, about."""

    @property
    def seconds_of_a_wave(self) -> float:
        """Return how long one mapping should take, s: long to its cost, short to patience."""

    def map(self, work: Work, table: pa.Table, schema: pa.Schema, label: str) -> pa.Table:
        """Return the rows that the work makes of the table's rows.

        Args:
            work: The function to apply; must be picklable.
            table: The rows to work on.
            schema: The columns of the rows made.
            label: What a progress bar says.

        Raises:
            PipelineError: the work could not be done; a subject's failure is never the reason.
            KeyboardInterrupt: Ctrl-C.
        """


class LocalEngine:
    """Runs the work row by row in this process."""

    is_here = True
    cores = 1
    seconds_of_a_wave = 10.0

    def map(self, work: Work, table: pa.Table, schema: pa.Schema, label: str) -> pa.Table:
        """Return the rows that the work makes of the table's rows, in their order."""
        made: list[pa.RecordBatch] = []
        done = 0
        with progress_bar("runs") as show:
            for batch in work(table.to_batches(max_chunksize=_ROWS_BETWEEN_LOOKS)):
                made.append(batch)
                done += batch.num_rows
                show(done, table.num_rows, label)
        return pa.Table.from_batches(made, schema)


@dataclass(frozen=True)
class SparkEngine:
    """A job for each mapping; its tasks take the rows in any order.

    Attributes:
        spark: The session.
        partitions: How many tasks; by default, by the number of cores and of rows.
    """

    spark: "SparkSession"
    partitions: int = 0
    is_here = False
    seconds_of_a_wave = 20.0

    @property
    def cores(self) -> int:
        """Return the number of tasks that run at a time; through Connect, a guess."""
        if is_connect(self.spark):
            return _CORES_BEHIND_CONNECT
        return self.spark.sparkContext.defaultParallelism

    def map(self, work: Work, table: pa.Table, schema: pa.Schema, label: str) -> pa.Table:
        """Return the rows that the work makes of the table's rows, in any order."""
        tasks = self.partitions or min(
            self.cores * _TASKS_OF_A_CORE, -(-table.num_rows // _LEAST_ROWS_OF_A_TASK)
        )
        frame = self.spark.createDataFrame(table).repartition(max(1, tasks))
        made = frame.mapInArrow(work, spark_columns(schema))
        try:
            result = run_watched(self.spark, made.toArrow, tasks=tasks, label=label)
        except Exception as error:
            raise job_failure(error) from error
        return result.cast(schema)
