"""The stream itself: from the orders to read files to the tables."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_spark.streaming.arrivals import Arrivals
from purgatory_spark.streaming.processor import RECORD_COLUMNS, RunProcessor
from purgatory_spark.streaming.spans import LINES, ReadSpans
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
    """The way in which a folder is watched.

    Attributes:
        checkpoint: Where Spark keeps what it has read and the state of runs; a local disk.
        most_held: How many lines of a run are held at the most for others that have not come.
        once: Stop when all orders that are there have been carried out.
        every_seconds: How often new orders are looked for.
    """

    checkpoint: Path
    most_held: int = MOST_HELD
    once: bool = False
    every_seconds: float = 2.0


def start(
    spark: "SparkSession",
    watch: Watch,
    arrivals: Arrivals,
    tables: Tables,
    after: Callable[[int, Summary], None],
) -> "StreamingQuery":
    """Start the stream; ``after`` is given each batch's number and the counts of all rows."""

    def keep(records: "DataFrame", number: int) -> None:
        ordered = records.sortWithinPartitions("home")
        ordered.write.mode("overwrite").parquet(str(tables.staging))
        after(number, tables.take(number, arrivals.told()))

    # An order is a batch. Spark removes its file when the batch can no longer be done again.
    orders = (
        spark.readStream.option("maxFilesPerTrigger", 1)
        .option("cleanSource", "delete")
        .option("pathGlobFilter", "*.jsonl")
        .text(str(arrivals.orders))
        .repartition(spark.sparkContext.defaultParallelism)
    )
    lines = orders.mapInArrow(ReadSpans(str(arrivals.folder)), spark_columns(LINES))
    records = lines.groupBy("run").transformWithState(
        RunProcessor(watch.most_held), RECORD_COLUMNS, "Update", "None"
    )
    writer = (
        records.writeStream.outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", str(watch.checkpoint))
        .queryName("purgatory trace watch")
    )
    if watch.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{watch.every_seconds} seconds").start()
