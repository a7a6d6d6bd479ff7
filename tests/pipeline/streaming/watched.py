"""One turn of a watch, as the tests take it: look, read all orders, and see what stands."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from purgatory_spark.streaming.arrivals import Arrivals
from purgatory_spark.streaming.tables import Tables
from purgatory_spark.streaming.watching import SETTINGS, Watch, start
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.results.rows import Row
from purgatory_traces.results.schemas import ROW_TYPES, payload_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def watched(
    spark: "SparkSession", folder: Path, out: Path, files_per_order: int = 16
) -> tuple[list[Row], list[int]]:
    """Return what stands when all that is there has been read, and the numbers of the batches."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    numbers: list[int] = []
    tables = Tables(out / "tables")
    arrivals = Arrivals(folder, out, files_per_order=files_per_order)
    try:
        arrivals.look()
        how = Watch(out / "checkpoint", once=True)
        start(
            spark, how, arrivals, tables, lambda number, _: numbers.append(number)
        ).awaitTermination()
        tables.publish(arrivals.told())
        return rows_of(out / "tables"), numbers
    finally:
        arrivals.close()
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)


def rows_of(folder: Path) -> list[Row]:
    """The rows of all tables in a folder of results."""
    results = read_results(folder)
    return [
        msgspec.convert(list(row.values()), kind)
        for table, kind in ROW_TYPES.items()
        for row in results.table(table).to_pylist()
    ]


def write_records(staging: Path, rows: Iterable[tuple[int, str, Row, bool]]) -> None:
    """Write rows with home, run and whether they stand for good, as Spark does."""
    columns: list[tuple[object, ...]] = [
        (home, run, table, for_good, payload)
        for home, run, row, for_good in rows
        for table, payload in (payload_of(row),)
    ]
    schema = pa.schema(
        [
            ("home", pa.int64()),
            ("run", pa.string()),
            ("table", pa.string()),
            ("for_good", pa.bool_()),
            ("payload", pa.binary()),
        ]
    )
    arrays = [pa.array([row[i] for row in columns], field.type) for i, field in enumerate(schema)]
    staging.mkdir()
    pq.write_table(pa.table(arrays, schema=schema), staging / "part-0.parquet")
