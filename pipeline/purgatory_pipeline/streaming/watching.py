"""The stream itself: from the files of a folder to the records of its batches.

Spark passes over files of no bytes, for good and without a word; so at the end of each batch the
folder is searched for them, and what a check says of each stands beside the records of the batch.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from purgatory_pipeline.replay.reordered_run import MOST_HELD
from purgatory_pipeline.results.rows import QuarantineRow
from purgatory_pipeline.streaming.batches import Batches, write_records
from purgatory_pipeline.streaming.processor import LINE_COLUMNS, RECORD_COLUMNS, RunProcessor
from purgatory_pipeline.streaming.records import Record, Validity, record_of
from purgatory_pipeline.traces.sources import SUFFIXES, read_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.shuffle.partitions": "4",
}
"""What the session of a stream has to be started with; the partitions are fixed for its life."""

_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_LINES_AT_ONCE = 5_000

_ANY_AGE = "36500d"
"""Spark would pass over a file that is a week older than another one that it has read."""


@dataclass(frozen=True)
class Watch:
    """What is watched, and how.

    Attributes:
        folder: Where finished files appear: ``*.jsonl``, ``*.jsonl.gz``, ``*.parquet``.
        checkpoint: Where Spark keeps what it has read and the state of runs; a local disk.
        files_per_batch: How many files are read in one batch, at the most.
        most_held: How many lines of a run are held at the most for others that have not come.
        once: Stop when all files that are there have been read.
        every_seconds: How often new files are looked for.
    """

    folder: Path
    checkpoint: Path
    files_per_batch: int = 16
    most_held: int = MOST_HELD
    once: bool = False
    every_seconds: float = 2.0


def start(
    spark: "SparkSession", watch: Watch, batches: Batches, after: Callable[[int], None]
) -> "StreamingQuery":
    """Start the stream; ``after`` is called with each batch's number once it has its place."""

    def keep(records: "DataFrame", number: int) -> None:
        staging = batches.staging(number)
        records.write.parquet(str(staging))
        write_records(staging / "empty-files.parquet", _of_empty_files(watch.folder))
        batches.take_place(number)
        batches.merge()
        after(number)

    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("maxFilesPerTrigger", watch.files_per_batch)
        .option("maxFileAge", _ANY_AGE)
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*.{jsonl,jsonl.gz,parquet}")
        .load(str(watch.folder))
        .select("path")
    )
    lines = files.mapInArrow(read_files, LINE_COLUMNS)
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


def _of_empty_files(folder: Path) -> Iterator[Record]:
    """What a check says of each empty file in a folder, by Spark's rules for what is in it."""
    for where, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each[0] not in "._"]
        for name in names:
            path = Path(where) / name
            if name[0] not in "._" and name.endswith(SUFFIXES) and _is_empty(path):
                yield from (
                    record_of("", row, Validity.WHOLE_FILE)
                    for row in read_file(path)
                    if isinstance(row, QuarantineRow)
                )


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False  # it is gone again


def read_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The lines of files whose addresses are given; called by Spark in its workers."""
    for batch in batches:
        for address in batch.column("path").to_pylist():
            yield from _lines_of(unquote(urlsplit(address).path))


def _lines_of(path: str) -> Iterator[pa.RecordBatch]:
    waiting: list[tuple[str, int | None, str, int, bytes, str | None]] = []
    for line in read_file(path):
        if isinstance(line, QuarantineRow):
            raw = line.raw.encode()
            waiting.append(("", None, line.file, line.line, raw, line.reason))
        else:
            waiting.append((line.run, line.seq, line.file, line.number, line.raw, None))
        if len(waiting) == _LINES_AT_ONCE:
            yield _batch(waiting)
            waiting.clear()
    if waiting:
        yield _batch(waiting)


def _batch(lines: list[tuple[str, int | None, str, int, bytes, str | None]]) -> pa.RecordBatch:
    kinds = [pa.string(), pa.int64(), pa.string(), pa.int64(), pa.binary(), pa.string()]
    names = ["run", "seq", "file", "number", "raw", "reason"]
    columns = [
        pa.array(column, kind) for column, kind in zip(zip(*lines, strict=True), kinds, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names)
