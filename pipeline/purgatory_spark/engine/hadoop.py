"""Traces on Hadoop's file systems, read by Spark's own readers.

Theory of operation. Files of lines are split at lines and Parquet at row groups, as Spark does it,
and the rows go to a Python worker with a number for the file, the first byte of the split, and for
Parquet the number of the row. A gzip file cannot be split: its bytes go to a worker as they are,
and are read there from a file of its own, as everywhere. So is a file of lines that is not what
the SHA-256 beside it says.

Of damaged Parquet Spark skips what is left of a split, and may skip it without an error. So the
tasks count the rows that they read of each split, and the numbers are compared with those that the
files tell in their footers, which Spark reads for a query of no column.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pyarrow as pa
from pyspark import TaskContext

from purgatory_spark.engine.pieces import piece_batches, scratch_folder
from purgatory_spark.engine.reading import JudgeOrCut
from purgatory_spark.engine.splits import Split, aside_of, file_of, split_name
from purgatory_traces.results.manifest import InputFile, is_own
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.byte_streams import CHECKSUM, told_digest, unlike_its_checksum
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parquet import located, other_number
from purgatory_traces.traces.sources import (
    REFUSED,
    SUFFIXES,
    LinesOfFile,
    NothingThere,
    read_changed,
    read_file,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

MOST_BYTES_AT_ONCE = 64 << 20
"""A larger gzip file is set aside, and a larger file of lines with a SHA-256 beside it is told:
one task would have to hold it."""
_BYTES_OF_A_TASK = 16 << 20
_MOST_TASKS = 10_000
_MS_OF_A_DAY = 86_400_000
_COLUMNS = ("file", "start", "row", "run", "seq", "raw")


class HadoopFile(NamedTuple):
    """A file: its address, its number in the rows, its bytes and its time of change."""

    address: str
    number: int
    bytes: int
    modified_ms: int

    @property
    def as_input(self) -> InputFile:
        """Return the file as a manifest names it."""
        return InputFile(self.address, self.bytes, self.modified_ms)


@dataclass(frozen=True)
class HadoopFiles:
    """The files that addresses stand for; see ``Plan``.

    Attributes:
        found: To be read, in the order of their addresses.
        ignored: Files in the folders that have other endings.
        checksums: The addresses of files that tell the SHA-256 of another one.
    """

    found: tuple[HadoopFile, ...]
    ignored: tuple[str, ...]
    checksums: frozenset[str] = frozenset()

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """Return the files as a manifest names them."""
        return tuple(each.as_input for each in self.found)

    def without(self, known: Iterable[InputFile]) -> "HadoopFiles":
        """Return the files that have changed since the manifest, or are not in the manifest."""
        before = set(known)
        left = tuple(each for each in self.found if each.as_input not in before)
        return replace(self, found=left)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the addresses of all files."""
        return tuple(each.address for each in self.found)

    @property
    def is_empty(self) -> bool:
        """Decide whether no file has a byte."""
        return not any(each.bytes for each in self.found)

    @property
    def partitions(self) -> int:
        """Return the number of tasks that replay."""
        total = sum(each.bytes for each in self.found)
        return max(1, min(_MOST_TASKS, -(-total // _BYTES_OF_A_TASK)))

    @property
    def tasks(self) -> int:
        """Return the number of all tasks, about."""
        return 2 * self.partitions

    def pieces(
        self, spark: "SparkSession", *, judges: bool = True, only: frozenset[str] | None = None
    ) -> "DataFrame":
        """Return the pieces of the runs in the files; see ``pieces_of``."""
        from purgatory_spark.engine.pieces import PIECE_COLUMNS

        changed = self._changed(spark)
        files = {each.number: each for each in self.found}
        read = ReadRows(files, JudgeOrCut(judges, only), changed)
        by_reader: dict[_Reader, list[str]] = {}
        for file in self.found:
            reader = _whole if file.number in changed else _reader_of(file)
            by_reader.setdefault(reader, []).append(file.address)
        frames = [reader(spark, addresses) for reader, addresses in by_reader.items()]
        if not frames:
            frames = [spark.createDataFrame([], _ROWS_OF_FILES)]
        rows = reduce(lambda one, other: one.unionByName(other), frames)
        return rows.mapInArrow(read, PIECE_COLUMNS)

    def aside(self, spark: "SparkSession", splits: Collection[Split]) -> Iterator[QuarantineRow]:
        """Yield rows about facts that no task knew, when these splits have been read."""
        tables = [each for each in self.found if _reader_of(each) is _table]
        names = {each.address for each in tables}
        yield from aside_of(set(self.files) - names, splits)
        read: Counter[str] = Counter()
        for split in splits:
            read[file_of(split.name)] += split.lines
        told = _told_rows(spark, sorted(names)) if tables else {}
        for file in tables:
            if not told.get(file.number) and not read[file.address]:
                yield QuarantineRow(file.address, 0, "", "no row of it can be read as Parquet")
            yield from other_number(file.address, told.get(file.number, 0), read[file.address])
        for file in self._sealed:
            if file.bytes > MOST_BYTES_AT_ONCE:
                reason = (
                    f"it is larger than {MOST_BYTES_AT_ONCE} bytes, and was not compared with its "
                    "SHA-256: write .jsonl.gz or Parquet, or remove the SHA-256"
                )
                yield QuarantineRow(file.address, 0, "", reason)

    @property
    def _sealed(self) -> list[HadoopFile]:
        """Return the files of lines that have a SHA-256 beside them."""
        sealed = (each for each in self.found if f"{each.address}{CHECKSUM}" in self.checksums)
        return [each for each in sealed if _reader_of(each) is _lines]

    def _changed(self, spark: "SparkSession") -> frozenset[int]:
        """Return the numbers of the files that differ from the SHA-256 beside them."""
        compared = [each for each in self._sealed if each.bytes <= MOST_BYTES_AT_ONCE]
        if not compared:
            return frozenset()
        binary = spark.read.format("binaryFile")
        beside = binary.load([f"{each.address}{CHECKSUM}" for each in compared])
        told = {
            _spelled(row.address): told_digest(row.content)
            for row in beside.selectExpr("_metadata.file_path as address", "content").collect()
        }
        files = binary.load([each.address for each in compared])
        digests = files.selectExpr(
            "_metadata.file_path as address",
            "xxhash64(_metadata.file_path) as number",
            "sha2(content, 256) as digest",
        ).collect()
        return frozenset(
            row.number
            for row in digests
            if told.get(f"{_spelled(row.address)}{CHECKSUM}") != row.digest
        )


_Reader: TypeAlias = Callable[["SparkSession", Sequence[str]], "DataFrame"]
_ROWS_OF_FILES = "file bigint, start bigint, row bigint, run string, seq bigint, raw binary"


def _as_rows(frame: "DataFrame", raw: str, **columns: str) -> "DataFrame":
    """Return files as rows; columns tell the file's beginning, or null."""
    said = {"start": "0L", "row": "null", "run": "null", "seq": "null", **columns, "raw": raw}
    kinds = {"run": "string", "raw": "binary"}
    return frame.selectExpr(
        "xxhash64(_metadata.file_path) as file",
        *(f"cast({each} as {kinds.get(name, 'bigint')}) as {name}" for name, each in said.items()),
    )


def _lines(spark: "SparkSession", addresses: Sequence[str]) -> "DataFrame":
    frame = spark.read.option("lineSep", "\n").text([*addresses])
    return _as_rows(frame, "value", start="_metadata.file_block_start")


def _whole(spark: "SparkSession", addresses: Sequence[str]) -> "DataFrame":
    frame = spark.read.format("binaryFile").load([*addresses])
    return _as_rows(frame, f"case when length <= {MOST_BYTES_AT_ONCE} then content end")


def _table(spark: "SparkSession", addresses: Sequence[str]) -> "DataFrame":
    frame = _parquet(spark, "run string, seq bigint, line binary").parquet(*addresses)
    start = "_metadata.file_block_start"
    return _as_rows(frame, "line", start=start, row="_metadata.row_index + 1", run="run", seq="seq")


def _parquet(spark: "SparkSession", columns: "str | StructType") -> "DataFrameReader":
    """Return a reader that compares pages with their checksums, and skips what is damaged."""
    reader = spark.read.option("parquet.page.verify-checksum.enabled", "true")
    return reader.option("ignoreCorruptFiles", "true").schema(columns)


def _told_rows(spark: "SparkSession", addresses: Sequence[str]) -> dict[int, int]:
    """Return the number of rows that each file tells, by the file's number; none of no row."""
    from pyspark.sql.types import StructType

    frame = _parquet(spark, StructType()).parquet(*addresses)
    files = frame.selectExpr("xxhash64(_metadata.file_path) as file").groupBy("file").count()
    return dict(files.collect())


def _reader_of(file: HadoopFile) -> _Reader:
    readers = {".jsonl": _lines, ".parquet": _table}
    return readers.get(PurePosixPath(file.address).suffix, _whole)


def hadoop_files(spark: "SparkSession", addresses: Sequence[str]) -> HadoopFiles:
    """Return the files that addresses of files, folders and patterns stand for.

    Raises:
        NothingThere: an address stands for nothing.
    """
    from pyspark.errors import AnalysisException

    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    checksums = set[str]()
    for address in addresses:  # a file that is named by itself may have its digest beside it
        with suppress(AnalysisException):
            checksums.update(map(_spelled, files.load(address + CHECKSUM).inputFiles()))
    try:
        frame = files.load([*addresses])
        rows = frame.selectExpr(
            "_metadata.file_path as address",
            "xxhash64(_metadata.file_path) as number",
            "length",
            "unix_millis(modificationTime) as modified_ms",
        ).collect()
    except AnalysisException as problem:
        why = str(problem).splitlines()[0]
        raise NothingThere(f"no file can be found: {why}") from None
    listed = [HadoopFile(_spelled(address), *rest) for address, *rest in rows]
    full = {each.address for each in listed}
    # Of a file without a byte Spark gives no row.
    empty = sorted({_spelled(each) for each in frame.inputFiles()} - full)
    listed += [HadoopFile(address, number, 0, 0) for number, address in enumerate(empty)]
    found, ignored = [], []
    for file in sorted(listed):
        parts = PurePosixPath(file.address).parts
        if file.address.endswith(CHECKSUM):
            checksums.add(file.address)
        elif any(map(is_own, parts)) or not file.address.endswith(SUFFIXES + REFUSED):
            ignored.append(file.address)
        else:
            found.append(file)
    return HadoopFiles(tuple(found), tuple(ignored), frozenset(checksums))


def _spelled(address: str) -> str:
    """Return an address as people write it: ``file:///a`` in place of Spark's ``file:/a``."""
    path = address.removeprefix("file:/")
    return address if path == address else f"file:///{path.lstrip('/')}"


@dataclass(frozen=True)
class ReadRows:
    """Turns rows of Spark's readers into pieces.

    Attributes:
        files: All files, by their numbers.
        then: What is done with the lines.
        changed: The numbers of files of lines that come whole, since no line of them counts.
    """

    files: dict[int, HadoopFile]
    then: JudgeOrCut
    changed: frozenset[int] = frozenset()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the lines of one partition; called by Spark in its workers."""
        splits: list[Split] = []
        task = TaskContext.get()
        share = "" if task is None else str(task.partitionId())
        days = {each.address: each.modified_ms // _MS_OF_A_DAY for each in self.files.values()}
        lines = self._located(_rows_in(batches), splits)
        yield from piece_batches(self.then.pieces(share, lines, days, splits))

    def _located(
        self, rows: Iterator["_FileRow"], splits: list[Split]
    ) -> Iterator[Located | QuarantineRow]:
        for (number, start), of_split in groupby(rows, key=lambda row: (row.file, row.start)):
            address = self.files[number].address
            if address.endswith(".parquet"):
                rows_read = 0
                for row in of_split:
                    assert row.row is not None
                    rows_read += 1
                    yield located(address, row.row, row.run, row.seq, row.raw)
                splits.append(Split(split_name(address, start), rows_read, 0))
            elif not address.endswith(".jsonl") or number in self.changed:
                for row in of_split:
                    yield from _read_whole(address, row.raw)
                splits.append(Split(address, 1, 0))
            else:
                reader = LinesOfFile(split_name(address, start))
                for row in of_split:
                    yield from reader.take_line(row.raw or b"")
                splits.append(Split(reader.name, reader.lines, reader.empty))


class _FileRow(NamedTuple):
    file: int
    start: int
    row: int | None
    run: str | None
    seq: int | None
    raw: bytes | None


def _rows_in(batches: Iterable[pa.RecordBatch]) -> Iterator[_FileRow]:
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in _COLUMNS]
        yield from map(_FileRow._make, zip(*columns, strict=True))


def _read_whole(address: str, content: bytes | None) -> Iterator[Located | QuarantineRow]:
    """Yield the lines of a gzip file, or of a changed file, by the reader of files."""
    if content is None:
        reason = (
            f"it is compressed and larger than {MOST_BYTES_AT_ONCE} bytes, and cannot be "
            "split: write smaller files, or Parquet"
        )
        yield QuarantineRow(address, 0, "", reason)
        return
    suffix = PurePosixPath(address).suffix
    with tempfile.NamedTemporaryFile(suffix=f".jsonl{suffix}", dir=scratch_folder()) as file:
        Path(file.name).write_bytes(content)
        if suffix == ".jsonl":
            yield from read_changed(file.name, unlike_its_checksum(address), address)
        else:
            yield from read_file(file.name, address)
