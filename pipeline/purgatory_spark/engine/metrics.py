"""The stages of a check on Spark: bytes read, shuffled and written, by Spark's own count."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from purgatory_spark.engine.session import is_connect
from purgatory_traces.results.metrics import StageMetrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stage_count(spark: "SparkSession") -> int:
    """Return the number of the session's stages; 0 through Spark Connect, which does not tell."""
    return 0 if is_connect(spark) else int(_context(spark).dagScheduler().nextStageId())


def stages_since(spark: "SparkSession", first: int) -> Iterator[StageMetrics]:
    """Yield the stages from a number on; none through Spark Connect."""
    if is_connect(spark):
        return
    context = _context(spark)
    context.listenerBus().waitUntilEmpty()
    for stage in range(first, stage_count(spark)):
        data = context.statusStore().lastStageAttempt(stage)
        if not data.numCompleteTasks():
            continue  # its work was done by an earlier one
        described = data.description()
        yield StageMetrics(
            name=described.get() if described.isDefined() else data.name(),
            tasks=data.numCompleteTasks(),
            seconds=data.executorRunTime() / 1000,
            rows_read=data.inputRecords(),
            bytes_read=data.inputBytes(),
            rows_shuffled=data.shuffleWriteRecords(),
            bytes_shuffled=data.shuffleWriteBytes(),
            rows_written=data.outputRecords(),
            bytes_written=data.outputBytes(),
        )


def _context(spark: "SparkSession") -> Any:  # an object of Java
    return spark.sparkContext._jsc.sc()
