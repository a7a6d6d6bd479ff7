"""The stream itself: from the orders to read files, or the records of a topic, to the tables."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext

from purgatory_spark.engine.topics import Topic, lines_of_records, records
from purgatory_spark.streaming.arrivals import Arrivals
from purgatory_spark.streaming.processor import RECORD_COLUMNS, RunProcessor
from purgatory_spark.streaming.spans import LINES, ReadSpans, line_batches
from purgatory_spark.streaming.tables import Tables
from purgatory_traces.replay.reordered_run import MOST_HELD
from purgatory_traces.results.arrow_columns import spark_columns
from purgatory_traces.summary.summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": "4",
}
"""The settings that the session of a stream starts with; the partitions are fixed for its life."""


@dataclass(frozen=True)
class Watch:
    """The way in which a folder or a topic is watched.

    Attributes:
        checkpoint: Where Spark keeps what it has read and the state of runs; a local disk.
        most_held: How many lines of a run are held at the most for others that have not come.
        once: Stop when all orders or records that are there have been read.
        every_seconds: How often new ones are looked for.
        lines_per_batch: The most records of a topic in one batch, about.
        skips_lost: Go on where a topic has lost records that no batch has read; else fail.
    """

    checkpoint: Path
    most_held: int = MOST_HELD
    once: bool = False
    every_seconds: float = 2.0
    lines_per_batch: int = 100_000
    skips_lost: bool = False


@dataclass(frozen=True)
class ReadTopic:
    """Turns records of a topic into lines of traces; called by Spark in its workers.

    Attributes:
        topic: The topic.
    """

    topic: Topic

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the records of a task; runs that begin in one batch are at home together."""
        task = TaskContext.get()
        number = None if task is None else task.getLocalProperty("streaming.sql.batchId")
        assert number is not None, "this is no task of a stream"
        yield from line_batches(lines_of_records(self.topic, batches), int(number))


def start(
    spark: "SparkSession",
    watch: Watch,
    source: Arrivals | Topic,
    tables: Tables,
    after: Callable[[int, Summary], None],
) -> "StreamingQuery":
    """Start the stream; ``after`` is given each batch's number and the counts of all rows."""

    def keep(rows: "DataFrame", number: int) -> None:
        ordered = rows.sortWithinPartitions("home")
        ordered.write.mode("overwrite").parquet(str(tables.staging))
        told = source.told() if isinstance(source, Arrivals) else ()
        after(number, tables.take(number, told))

    if isinstance(source, Arrivals):
        lines = _lines_in_files(spark, source)
    else:
        lines = _lines_in_topic(spark, source, watch)
    judged = lines.groupBy("run").transformWithState(
        RunProcessor(watch.most_held), RECORD_COLUMNS, "Update", "None"
    )
    writer = (
        judged.writeStream.outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", str(watch.checkpoint))
        .queryName("purgatory trace watch")
    )
    if watch.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{watch.every_seconds} seconds").start()


def _lines_in_files(spark: "SparkSession", arrivals: Arrivals) -> "DataFrame":
    # An order is a batch. Spark removes its file when the batch can no longer be done again.
    orders = (
        spark.readStream.option("maxFilesPerTrigger", 1)
        .option("cleanSource", "delete")
        .option("pathGlobFilter", "*.jsonl")
        .text(str(arrivals.orders))
        .repartition(spark.sparkContext.defaultParallelism)
    )
    return orders.mapInArrow(ReadSpans(str(arrivals.folder)), spark_columns(LINES))


def _lines_in_topic(spark: "SparkSession", topic: Topic, watch: Watch) -> "DataFrame":
    found = records(
        spark.readStream,
        topic,
        subscribe=topic.name,
        startingOffsets="earliest",
        maxOffsetsPerTrigger=watch.lines_per_batch,
        failOnDataLoss=str(not watch.skips_lost).lower(),
    )
    return found.mapInArrow(ReadTopic(topic), spark_columns(LINES))
