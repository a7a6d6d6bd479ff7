"""Results in a folder: three tables, whole or not at all.

Theory of operation. Everything is written to a staging folder inside the folder of results. A
complete staging folder is renamed after a checksum of its contents, and then ``manifest.json``,
which names the folder, is replaced in one step. Until that step the folder holds the previous
results, and from it on the new ones; whatever kills the process, one of the two is there and whole.
What processes that were killed have left behind is removed by the next one, as are the previous
results once the manifest no longer names them; nothing is touched whose name is not one of those
given here, and where ``manifest.json`` is somebody else's nothing is written at all. A lock keeps a
second process out.

Rows may come in any order. They are sorted, on disk where they do not fit into memory, so that the
same rows always give the same files, byte for byte.
"""

import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_spec.named_files import named_file
from purgatory_traces.engines.external_sort import CHUNK_BYTES, ExternalSort, Key
from purgatory_traces.errors import PipelineError, require
from purgatory_traces.results.locking import only_one
from purgatory_traces.results.manifest import (
    MANIFEST_FORMAT,
    STAGING,
    InputFile,
    Manifest,
    ResultFile,
    described,
    folder_of,
    own_folders,
    publish,
    read_manifest,
    refuse_foreign,
    verify,
)
from purgatory_traces.results.rows import Row
from purgatory_traces.results.schemas import ROW_TYPES, TABLE_OF_ROW, TableName, arrow_schema
from purgatory_traces.version import MODEL_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_A_TIME = 8192


@dataclass(frozen=True)
class Conclusion:
    """The facts of the manifest beside its files.

    Attributes:
        engine: The engine that was used.
        exit_code: The exit code of the check.
        verdicts: How many runs have each verdict.
        inputs: The files that were read.
        ignored: The files that were not.
    """

    engine: str
    exit_code: int
    verdicts: dict[str, int]
    inputs: tuple[InputFile, ...] = ()
    ignored: tuple[str, ...] = ()

    def manifest(self, folder: str, files: Iterable[ResultFile]) -> Manifest:
        """Return the manifest of these files, in a folder of this name."""
        return Manifest(
            format=MANIFEST_FORMAT,
            model_version=MODEL_VERSION,
            engine=self.engine,
            folder=folder,
            exit_code=self.exit_code,
            verdicts=self.verdicts,
            files=tuple(files),
            inputs=self.inputs,
            ignored=self.ignored,
        )


class ResultWriter:
    """Writes the results of one check into a folder; to be used in a ``with`` statement.

    First ``write`` rows, then ``finish`` the tables; or write files into ``whole`` by other means
    and ``adopt`` them. Then ``commit``. Where the statement is left before that, nothing has
    changed in the folder.
    """

    def __init__(self, folder: Path, *, chunk_bytes: int = CHUNK_BYTES) -> None:
        """Prepare to write into the folder, which is made if missing.

        Args:
            folder: Where the results are to be.
            chunk_bytes: How much of each table is held in memory at a time, about.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        require("pyarrow", "traces", "Parquet")
        self._folder = folder
        self._chunk_bytes = chunk_bytes
        self._open = ExitStack()
        self._tables: list[ResultFile] = []
        self._sorted: dict[TableName, ExternalSort[Row]] = {}

    def __enter__(self) -> "ResultWriter":
        """Lock the folder and make a staging folder.

        Raises:
            Refused: the folder has a ``manifest.json`` that is no check's.
            PipelineError: another process is writing there, or it cannot be written to.
        """
        refuse_foreign(self._folder, of_a_check=True)
        with ExitStack() as opening:
            opening.enter_context(only_one(self._folder))
            for left_behind in own_folders(self._folder, STAGING):
                shutil.rmtree(left_behind, ignore_errors=True)
            inside = self._folder / f"{STAGING}{secrets.token_hex(8)}"
            inside.mkdir(0o700)
            opening.callback(shutil.rmtree, inside, ignore_errors=True)
            self.whole = inside / "whole"
            """The folder that ``commit`` makes the results."""
            self.whole.mkdir()
            self.scratch = inside / "scratch"
            """A folder for what is not a result; it goes with the staging folder."""
            self.scratch.mkdir()
            self._open = opening.pop_all()
        for table, kind in ROW_TYPES.items():
            sorting = ExternalSort(kind, _key(table), self.scratch, self._chunk_bytes)
            self._sorted[table] = self._open.enter_context(sorting)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def write(self, rows: Iterable[Row]) -> None:
        """Take in rows, in any order."""
        for row in rows:
            self._sorted[TABLE_OF_ROW[type(row)]].add(row)

    def finish(self, take: Callable[[Row], None] | None = None) -> None:
        """Write the tables; each of their rows is given to ``take``, table by table, sorted."""
        for table, sorting in self._sorted.items():
            rows = sorting.in_order()
            path = self.whole / f"{table.value}.parquet"
            count = _write_table(path, table, rows if take is None else _told(rows, take))
            self._tables.append(described(path, count))

    @property
    def address(self) -> str:
        """Return the address of ``whole``."""
        return self.whole.absolute().as_uri()

    @property
    def staging(self) -> str:
        """Return the address of a folder that can be made, for what is no result."""
        return (self.scratch / "spark").absolute().as_uri()

    def adopt(self, files: Iterable[ResultFile]) -> None:
        """Take files of tables for results that were written into ``whole`` by other means."""
        self._tables.extend(files)

    def commit(self, conclusion: Conclusion, pages: Sequence[tuple[str, str]] = ()) -> Path:
        """Make what was written the results of the folder.

        Args:
            conclusion: What the manifest says beside the files.
            pages: Further files of text, by their names.

        Returns:
            The folder in which the files are now.
        """
        files = [*self._tables]
        for name, text in pages:
            path = self.whole / name
            path.write_text(text, encoding="utf-8")
            files.append(described(path, None))
        manifest = conclusion.manifest(folder_of(files), files)
        return publish(self.whole, self._folder, manifest)


def _told(rows: Iterator[Row], take: Callable[[Row], None]) -> Iterator[Row]:
    for row in rows:
        take(row)
        yield row


def _write_table(path: Path, table: TableName, rows: Iterable[Row]) -> int:
    """Write a table as Parquet; how many rows it has."""
    import pyarrow.parquet as pq

    count, left = 0, iter(rows)
    with (
        path.open("wb") as opened,
        pq.ParquetWriter(
            opened, arrow_schema(table), compression="zstd", write_page_checksum=True
        ) as writer,
    ):
        while block := list(islice(left, _ROWS_AT_A_TIME)):
            count += len(block)
            writer.write_batch(as_batch(table, block))
    return count


def as_batch(table: TableName, rows: Sequence[Row]) -> "pa.RecordBatch":
    """Return rows of a table as columns.

    Raises:
        PipelineError: a row lacks a value.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    arrays = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in schema]
    for field, array in zip(schema, arrays, strict=True):
        if array.null_count and not field.nullable:
            raise PipelineError(f"a row of {table.value} has no {field.name}")
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


_ORDER: Mapping[TableName, tuple[str, ...]] = {
    TableName.VERDICTS: ("run",),
    TableName.COVERAGE: ("run", "rule"),
    TableName.QUARANTINE: ("file", "line", "reason", "run", "seq"),
}
"""The columns that tables are sorted by."""


def _key(table: TableName) -> Callable[[Row], Key]:
    """Return the key that sorts the rows of a table; null comes first."""
    names = _ORDER[table]

    def key(row: Row) -> Key:
        values = (getattr(row, name) for name in names)
        return tuple(-1 if value is None else value for value in values)

    return key


@dataclass(frozen=True)
class CheckResults:
    """Results that were read from a folder and are as its manifest says.

    Attributes:
        manifest: The manifest.
        folder: Where the files are.
    """

    manifest: Manifest
    folder: Path

    def table(self, name: TableName | str) -> "pa.Table":
        """Return one of the tables: ``verdicts``, ``coverage`` or ``quarantine``, in its order."""
        import pyarrow as pa

        table = TableName(name)
        parts = [arrow_schema(table).empty_table()]
        whole = self.folder / f"{table.value}.parquet"
        if whole.is_dir():
            parts += [_read_part(path, table) for path in sorted(whole.rglob("*.parquet"))]
        else:
            for file in self.manifest.files:
                if file.rows is not None and re.split("[-.]", file.name)[0] == table.value:
                    parts.append(read_table(self.folder / file.name))
        keys = [(key, "ascending", "at_start") for key in _ORDER[table]]
        return pa.concat_tables(parts).sort_by(keys)


def read_table(path: Path) -> "pa.Table":
    """Return a table, or a part of one, whose pages are as they were written.

    Raises:
        OSError: they are not, or the file cannot be read.
    """
    import pyarrow.parquet as pq

    with named_file(path).open("rb") as opened:
        return pq.ParquetFile(opened, page_checksum_verification=True).read()


def _read_part(path: Path, table: TableName) -> "pa.Table":
    """Return a part that Spark has written; its folder names the component of its rows."""
    import pyarrow as pa

    schema = arrow_schema(table)
    part = read_table(path)
    component = path.parent.name.removeprefix(_COMPONENT)
    known = "" if component == _NOT_KNOWN else component
    columns = [
        part.column(field.name)
        if field.name in part.column_names
        else pa.repeat(known, part.num_rows)
        for field in schema
    ]
    arrays = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


_COMPONENT = "component="
_NOT_KNOWN = "__HIVE_DEFAULT_PARTITION__"


def read_results(folder: str | Path) -> CheckResults:
    """Return the results in a folder that ``purgatory trace check`` has written.

    Raises:
        PipelineError: there are none, or a file is not as the manifest says.
    """
    where = Path(folder)
    manifest = read_manifest(where)
    verify(where, manifest)
    return CheckResults(manifest, where / manifest.folder)
