"""Engines for the settings: processes of this machine, or tasks of Spark; same rows.

Both hand out each row as soon as they have it, so that it can be kept; on Spark that is when all
settings of a *wave* are done, a few for each processor.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Final

import msgspec

from purgatory_lab.studies.bundled import BundledDesign
from purgatory_lab.studies.designs import CountedDesign
from purgatory_lab.studies.setting import Setting
from purgatory_lab.studies.simulation import Design, run
from purgatory_lab.studies.tables import Row, row_of, schema

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

_SETTINGS_FOR_EACH_PROCESSOR: Final = 4


def result_of(setting: Setting) -> Row:
    """Return the row of a setting; takes some seconds for a million requests."""
    design: Design
    if setting.design.startswith("bundled"):
        design = BundledDesign(setting)
    else:
        design = CountedDesign(setting)
    return row_of(setting, run(setting.workload.generate(), design))


def run_locally(
    settings: Sequence[Setting], workers: int
) -> Generator[tuple[Setting, Row], None, None]:
    """Run settings in this process, or in several others.

    Args:
        settings: What is to be run.
        workers: How many processes; with 1, none is started.

    Yields:
        Each setting and its row, in the order given.
    """
    if workers == 1:
        for setting in settings:
            yield setting, result_of(setting)
        return
    # Ctrl-C is for this process: the others end the settings they are at.
    with ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    ) as pool:
        try:
            yield from zip(settings, pool.map(result_of, settings), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)


def run_on_spark(
    settings: Sequence[Setting], spark: SparkSession
) -> Generator[tuple[Setting, Row], None, None]:
    """Run settings as tasks of Spark, each in one task of its own.

    Yields:
        Each setting and its row, in the order given.
    """
    from purgatory_traces.results.arrow_columns import spark_columns

    size = _SETTINGS_FOR_EACH_PROCESSOR * _processors_of(spark)
    for first in range(0, len(settings), size):
        wave = settings[first : first + size]
        texts = [(number, msgspec.json.encode(each).decode()) for number, each in enumerate(wave)]
        frame = spark.createDataFrame(texts, "number int, setting string")
        rows = (
            frame.repartitionByRange(len(wave), "number")
            .select("setting")
            .mapInArrow(_rows_of_batches, spark_columns(schema()))
            .toArrow()
            .to_pylist()
        )
        by_name = {_setting_of(row).name: row for row in rows}
        for setting in wave:
            yield setting, by_name[setting.name]


def _processors_of(spark: SparkSession) -> int:
    """Return the number of tasks that Spark runs at a time; a guess through Spark Connect."""
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:  # no context
        return 2


def _rows_of_batches(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Run the settings of each batch; called by Spark in its workers."""
    import pyarrow

    for batch in batches:
        for text in batch.column("setting").to_pylist():
            row = result_of(msgspec.json.decode(text, type=Setting))
            yield pyarrow.RecordBatch.from_pylist([row], schema=schema())


def _setting_of(row: Row) -> Setting:
    return msgspec.convert({name: row[name] for name in Setting.__dataclass_fields__}, type=Setting)
