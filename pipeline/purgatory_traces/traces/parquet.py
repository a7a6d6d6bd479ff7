"""Traces as Parquet: a table of raw lines, with run and number beside each for whoever sorts.

The columns are ``run`` (string), ``seq`` (64-bit integer) and ``line`` (string or binary): the
line as it would stand in JSON Lines. ``run`` and ``seq`` say the same as the line and are null
where it does not say them. Further columns are allowed and not read.

Each page has a checksum, which is compared where the page is read: a bit that flips in the data is
found before a line of the page is believed. No checksum covers the header of a page and the end of
the file, and a reader may take a page with a damaged header for the end of its column. So the rows
that were read are counted, and compared with the number that the file tells. Files are opened here
and handed over open, because pyarrow takes a path like ``nightly:1`` for an address.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from purgatory_conformance.whole_files import whole_file
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import Unusable, require
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import place_of

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 4096
_GROUP_ROWS = 1 << 16


class TraceRow(NamedTuple):
    """A row of such a table; ``run`` and ``seq`` are None where the line does not say them."""

    run: str | None
    seq: int | None
    line: bytes


def read_parquet(path: str, name: str) -> Iterator[Located | QuarantineRow]:
    """Yield the lines of a Parquet file, named as told, from its first row, number 1, on.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    require("pyarrow", "traces", "Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with (
            pa.OSFile(str(named_file(path))) as opened,
            closing(
                pq.ParquetFile(opened, pre_buffer=False, page_checksum_verification=True)
            ) as file,
        ):
            problem = _wrong_columns(file.schema_arrow)
            if problem:
                yield QuarantineRow(name, 0, "", problem)
                return
            if not file.metadata.num_rows:
                yield QuarantineRow(name, 0, "", "the file is empty")
            for batch in file.iter_batches(_BATCH_ROWS, columns=["run", "seq", "line"]):
                columns = (batch.column(each).to_pylist() for each in ("run", "seq", "line"))
                for run, seq, line in zip(*columns, strict=True):
                    number += 1
                    yield located(name, number, run, seq, line)
            yield from other_number(name, file.metadata.num_rows, number)
    except (OSError, UnicodeDecodeError, pa.ArrowException) as problem:
        reason = " ".join(str(problem).split())
        yield QuarantineRow(
            name, number, "", f"cannot be read as Parquet: {reason}; nothing is read from here on"
        )


def other_number(name: str, told: int, read: int) -> Iterator[QuarantineRow]:
    """Yield a row about a file of which another number of rows was read than it tells."""
    if read != told:
        reason = f"it tells of {told} rows, and {read} could be read: it is damaged"
        yield QuarantineRow(name, 0, "", reason)


def located(
    name: str, number: int, run: str | None, seq: int | None, line: str | bytes | None
) -> Located | QuarantineRow:
    """Return the line that a row of a table holds; ``number`` counts rows from 1."""
    if line is None:
        return QuarantineRow(name, number, "", "the column line is null")
    raw = line.encode() if isinstance(line, str) else line
    text = raw.decode("utf-8", "backslashreplace")
    try:
        said = place_of(raw)
    except Unusable as problem:
        return QuarantineRow(name, number, text, str(problem))
    if said != (run, seq):
        return QuarantineRow(
            name,
            number,
            text,
            f"the columns say run {run!r} and seq {seq}, the line {said[0]!r} and {said[1]}",
        )
    return Located(*said, name, number, raw)


def _wrong_columns(schema: "pa.Schema") -> str:
    """Return the fault of the columns; empty if they are right."""
    from pyarrow import types

    strings = {types.is_string, types.is_large_string}
    allowed = {
        "run": ("string", strings),
        "seq": ("int64", {types.is_int64}),
        "line": ("string or binary", strings | {types.is_binary, types.is_large_binary}),
    }
    for column, (words, checks) in allowed.items():
        if column not in schema.names:
            return f"it has no column {column} ({words}), so that it holds no trace"
        kind = schema.field(column).type
        if not any(check(kind) for check in checks):
            return f"the column {column} is {kind}, not {words}"
    return ""


def write_parquet(target: Path, rows: Iterable[TraceRow]) -> int:
    """Write a Parquet file, whole or not at all; how many rows it has.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    require("pyarrow", "traces", "Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("run", pa.string()), ("seq", pa.int64()), ("line", pa.binary())])
    target.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with (
        whole_file(target) as unfinished,
        unfinished.open("wb") as opened,
        pq.ParquetWriter(opened, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        left = iter(rows)
        while group := list(islice(left, _GROUP_ROWS)):
            count += len(group)
            columns = zip(zip(*group, strict=True), schema.types, strict=True)
            arrays = [pa.array(column, kind) for column, kind in columns]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return count
