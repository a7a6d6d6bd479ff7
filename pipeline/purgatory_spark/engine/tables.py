"""The three tables, written by Spark's own writers: typed, and in folders by date and component.

Theory of operation. The tasks that replay leave rows as JSON, each with its table, its run's day
and component, and a summary for each task. The summaries alone come to this process. The rows are
given their columns by Spark, moved so that each folder gets few files of a fair size, and written
as ``verdicts.parquet/date=2026-01-31/component=timer/part-...parquet``. Where day or component is
not known, the name of the folder says so as Hive has it, which Spark reads as null. Sizes and
checksums of the files are found out by Spark, too, which reads each file as one value for that. So
no file may be large: Spark moves rows to files of about 64 MiB, those of the quarantine as well.
"""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from purgatory_spark.engine.progress import describe
from purgatory_spark.engine.splits import Place, Split
from purgatory_traces.errors import PipelineError
from purgatory_traces.results.manifest import ResultFile
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.results.schemas import TABLES, TableName
from purgatory_traces.summary.summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = ("date", "component")
"""The columns that the folders of a table are named after; ``quarantine`` has none."""

_MOST_ROWS = 1 << 20
"""The most rows of a file of the quarantine, also where one task writes them all."""


def summary_of(
    staged: "DataFrame", tasks: int, examples: int
) -> tuple[Summary, int, frozenset[Split]]:
    """Return the summary of all tasks, the number of runs to read again, and the splits read.

    Raises:
        PipelineError: there are not as many as tasks: some have written where nobody sees it.
    """
    from purgatory_spark.engine.pieces import SUMMARY

    summary = Summary(most_examples=examples)
    rows = staged.where(f"table = '{SUMMARY}'").select("payload").collect()
    if len(rows) != tasks:
        raise PipelineError(
            f"of {tasks} tasks {len(rows)} have left their rows where Spark finds them: name with "
            "--out a folder that all machines share, or an address"
        )
    again, splits = 0, frozenset[Split]()
    for row in rows:
        of_task, again_of_task, splits_of_task = pickle.loads(row.payload)
        summary.merge(of_task)
        again += again_of_task
        splits |= set(splits_of_task)
    return summary, again, splits


def write_tables(
    staged: "DataFrame",
    base: str,
    places: Mapping[str, Place] | None = None,
    aside: Sequence[QuarantineRow] = (),
    *,
    is_small: bool = False,
) -> None:
    """Write the tables below an address, as ``verdicts.parquet`` and so on.

    Args:
        staged: The rows of all tasks.
        base: Where the tables are to be.
        places: Those of the splits that rows name in the place of files.
        aside: Further rows of the quarantine.
        is_small: Whether one task writes each table, so that nothing has to be moved to another.
    """
    for table in TABLES:
        describe(staged.sparkSession, f"write {table.value}")
        rows = _typed(staged, table)
        if places and table is not TableName.COVERAGE:
            rows = _placed(rows, places)
        target = f"{base}/{table.value}.parquet"
        if table is TableName.QUARANTINE:
            rows = rows.drop(*PARTITIONS)
            if aside:
                more = [tuple(row._asdict()[name] for name in rows.columns) for row in aside]
                rows = rows.union(rows.sparkSession.createDataFrame(more, rows.schema))
            moved = rows.coalesce(1) if is_small else rows.hint("rebalance")
            moved.write.option("maxRecordsPerFile", _MOST_ROWS).parquet(target)
            continue
        moved = rows.coalesce(1) if is_small else rows.hint("rebalance", *PARTITIONS)
        rows = moved.sortWithinPartitions(*PARTITIONS, "run")
        rows.write.partitionBy(*PARTITIONS).parquet(target)


def _placed(rows: "DataFrame", places: Mapping[str, Place]) -> "DataFrame":
    """Return the rows with files and lines in place of splits and their lines."""
    from pyspark.sql import functions as f

    moved = [(name, *place) for name, place in places.items() if place != (name, 0)]
    if not moved:
        return rows
    spark = rows.sparkSession
    known = spark.createDataFrame(moved, "file string, of_file string, before bigint")
    columns = {
        "file": f.coalesce("of_file", "file"),
        "line": f.col("line") + f.coalesce("before", f.lit(0)),
    }
    return rows.join(f.broadcast(known), "file", "left").select(
        *(columns.get(name, f.col(name)).alias(name) for name in rows.columns)
    )


def _typed(staged: "DataFrame", table: TableName) -> "DataFrame":
    """Return the rows of a table, with its columns and the columns that name its folders."""
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
    """Yield the Parquet files below an address, as a manifest describes them, by name."""
    from pyspark.sql import functions as f

    describe(spark, "describe files")
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
        for row in files.collect()
    )
    yield from sorted(found, key=lambda file: file.name)
