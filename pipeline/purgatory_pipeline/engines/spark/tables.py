"""The three tables, written by Spark's own writers: typed, and in folders by date and component.

Theory of operation. The tasks that replay leave rows as JSON, each with its table, its run's day
and component, and a summary for each task. The summaries alone come to this process. The rows are
given their columns by Spark, moved so that each folder gets few files of a fair size, and written
as ``verdicts.parquet/date=2026-01-31/component=timer/part-...parquet``. Where day or component is
not known, the name of the folder says so as Hive has it, which Spark reads as null. Sizes and
checksums of the files are found out by Spark, too.
"""

import pickle
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from purgatory_pipeline.results.manifest import ResultFile
from purgatory_pipeline.results.schemas import TABLES, TableName
from purgatory_pipeline.summary.summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = ("date", "component")
"""The columns that the folders of a table are named after; ``quarantine`` has none."""


def summary_of(staged: "DataFrame", examples: int) -> Summary:
    """The summary of all tasks; no other rows are fetched."""
    from purgatory_pipeline.engines.spark.pieces import SUMMARY

    summary = Summary(most_examples=examples)
    for row in staged.where(f"table = '{SUMMARY}'").select("payload").collect():
        summary.merge(pickle.loads(row.payload))
    return summary


def write_tables(staged: "DataFrame", base: str) -> None:
    """Write the tables below an address, as ``verdicts.parquet`` and so on."""
    for table in TABLES:
        rows = _typed(staged, table)
        target = f"{base}/{table.value}.parquet"
        if table is TableName.QUARANTINE:
            rows.drop(*PARTITIONS).coalesce(1).write.parquet(target)
            continue
        rows = rows.hint("rebalance", *PARTITIONS).sortWithinPartitions(*PARTITIONS, "run")
        rows.write.partitionBy(*PARTITIONS).parquet(target)


def _typed(staged: "DataFrame", table: TableName) -> "DataFrame":
    """The rows of a table with their columns, and those that name its folders."""
    from pyspark.sql import functions as f

    columns = ", ".join(f"{each.name} {each.kind.value}" for each in TABLES[table])
    own = [f.col(f"row.{each.name}") for each in TABLES[table] if each.name not in PARTITIONS]
    return (
        staged.where(f.col("table") == table.value)
        .withColumn("row", f.from_json(f.col("payload").cast("string"), columns))
        .select(
            *own,
            f.date_from_unix_date(f.when(f.col("day") >= 0, f.col("day").cast("int")))
            .cast("string")
            .alias("date"),
            f.when(f.col("component") != "", f.col("component")).alias("component"),
        )
    )


def files_below(spark: "SparkSession", base: str) -> Iterator[ResultFile]:
    """The Parquet files below an address, as a manifest describes them, in the order of names."""
    from pyspark.sql import functions as f

    files = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*.parquet")
        .load(base)
        .select("path", "length", f.sha2("content", 256).alias("sha256"))
    )
    root = PurePosixPath(unquote(urlsplit(base).path))
    found = (
        ResultFile(
            str(PurePosixPath(unquote(urlsplit(row.path).path)).relative_to(root)),
            row.length,
            row.sha256,
        )
        for row in files.toLocalIterator()
    )
    yield from sorted(found, key=lambda file: file.name)
