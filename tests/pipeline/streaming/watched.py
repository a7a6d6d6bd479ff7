"""One turn of a watch, as the tests take it: look, read all orders, and see what stands."""

from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_pipeline.results.rows import Row
from purgatory_pipeline.streaming.arrivals import Arrivals
from purgatory_pipeline.streaming.batches import Batches
from purgatory_pipeline.streaming.records import row_of
from purgatory_pipeline.streaming.watching import SETTINGS, Watch, start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def watched(
    spark: "SparkSession", folder: Path, out: Path, files_per_order: int = 16
) -> tuple[list[Row], list[int]]:
    """What stands when all that is there has been read, and the numbers of the batches."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    numbers: list[int] = []
    batches = Batches(out / "batches")
    arrivals = Arrivals(folder, out, files_per_order=files_per_order)
    try:
        arrivals.look()
        how = Watch(out / "checkpoint", once=True)
        start(spark, how, arrivals, batches, numbers.append).awaitTermination()
        rows: list[Row] = [row_of(record) for record in batches.standing()]
        return [*rows, *arrivals.told()], numbers
    finally:
        arrivals.close()
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
