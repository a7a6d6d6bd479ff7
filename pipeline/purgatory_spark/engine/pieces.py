"""Pieces of runs: what goes from the tasks that read to the tasks that replay.

A piece is one of four: the rows of a run that was judged where it was read, lines of a run that
lies in several shares, a stretch of such a run that was judged where it was read, or a row about a
line whose run could not be read. Lines go by the block,
sorted, with columns of their own for number, line of the file and text, compressed together: the
lines of a run are alike, and a line that is read takes 2 to 8 bytes so where it took 110 to 170.

What a judge knows is pickled: a stretch and a summary live no longer than the job that made them.
"""

import os
import pickle
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from purgatory_spark.engine.splits import Split
from purgatory_traces.replay import RunReplay
from purgatory_traces.replay.stretches import Stretch
from purgatory_traces.results.arrow_columns import binaries, integers, spark_columns, texts
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import Located

MOST_LINES = 2048
"""Lines in a block, and pieces or rows in a batch, at the most."""
MOST_BYTES = 1 << 20
"""A block or batch that holds so many bytes is sent on."""
MOST_ASIDE = 512
"""The most lines of a cut run that may be set aside; a run with more is read again."""
SORTED_BYTES = 4 << 20
"""The bytes of lines that a worker sorts in memory at a time, about."""

AGAIN = "again"
"""The word in place of a table's name if the payload is the name of a run to be read again."""
SUMMARY = "summary"
"""The word in place of a table's name if the payload is a task's pickled ``summary_of``."""
UNKNOWN_DAY = -1

_NUMBERS = [(name, pa.int64()) for name in ("kind", "seq", "lines", "day")]
_PIECES = pa.schema([("run", pa.string()), *_NUMBERS, ("payload", pa.binary())])
_ROWS = pa.schema(
    {"table": pa.string(), "day": pa.int64(), "component": pa.string(), "payload": pa.binary()}
)
PIECE_COLUMNS, ROW_COLUMNS = spark_columns(_PIECES), spark_columns(_ROWS)


class PieceKind(IntEnum):
    """The sorts of pieces; a task is given those of a run by number, and then in this order."""

    ROWS = 0
    """Rows that are about no run."""
    JUDGED = 1
    """The rows of a run, all lines of which seem to be in one share."""
    CUT = 2
    """Says, before all lines, that there are stretches of a run."""
    LINES = 3
    """Lines of a run."""
    STRETCH = 4
    """Lines of a run that were judged apart from those before them."""


class Piece(NamedTuple):
    """A piece of a run: the run, the number of its first line, the count of its lines, the payload.

    ``day`` counts from 1970-01-01: that on which the file of its first line was last changed.
    """

    run: str
    kind: int
    seq: int
    lines: int
    day: int
    payload: bytes


class CarriedRow(NamedTuple):
    """A row as JSON, with its table, and the day and component of its run."""

    table: str
    day: int
    component: str
    payload: bytes


_Sent = TypeVar("_Sent", Piece, CarriedRow)


class _Rows(msgspec.Struct, array_like=True):
    """Rows of a piece, by their tables."""

    verdicts: list[VerdictRow] = []
    coverage: list[CoverageRow] = []
    quarantine: list[QuarantineRow] = []
    splits: list[Split] = []


class _Block(msgspec.Struct, array_like=True):
    """Lines of a run; numbers and places are differences to those of the line before."""

    files: list[str]
    file_of_line: list[int]
    seqs: list[int]
    numbers: list[int]
    ends: list[int]
    text: bytes


_ENCODER = msgspec.msgpack.Encoder()
_BLOCKS = msgspec.msgpack.Decoder(_Block)
_ROWS_OF_TABLES = msgspec.msgpack.Decoder(_Rows)
_LENGTH = 4


def rows_piece(
    run: str, kind: PieceKind, lines: int, day: int, rows: Iterable[Row | Split]
) -> Piece:
    """Return a piece of rows."""
    tables = _Rows()
    for row in rows:
        if isinstance(row, VerdictRow):
            tables.verdicts.append(row)
        elif isinstance(row, CoverageRow):
            tables.coverage.append(row)
        elif isinstance(row, Split):
            tables.splits.append(row)
        else:
            tables.quarantine.append(row)
    return Piece(run, kind, 0, lines, day, _packed(_ENCODER.encode(tables)))


def rows_in(piece: Piece) -> Iterator[Row | Split]:
    """Yield the rows that a piece holds, the verdict first."""
    tables = _ROWS_OF_TABLES.decode(_unpacked(piece.payload))
    yield from tables.verdicts
    yield from tables.coverage
    yield from tables.quarantine
    yield from tables.splits


def cut_mark(run: str, day: int) -> Piece:
    """Return a mark that a run is cut into stretches, and may have to be read again."""
    return Piece(run, PieceKind.CUT, 0, 0, day, b"")


def stretch_piece(before: RunReplay, lines: Iterable[Located], day: int) -> Piece:
    """Judge lines of a run that follow one another; nothing is in it where too many are aside."""
    state = pickle.dumps(before)
    behind: RunReplay = pickle.loads(state)
    aside: list[QuarantineRow] = []
    first = count = 0
    for count, line in enumerate(lines, start=1):
        first = line.seq if count == 1 else first
        row = behind.take(line)
        if row is not None and len(aside) <= MOST_ASIDE:
            aside.append(row)
    payload = b""
    if len(aside) <= MOST_ASIDE:
        payload = _packed(pickle.dumps((state, pickle.dumps(behind), aside)))
    return Piece(before.run, PieceKind.STRETCH, first, count, day, payload)


def stretch_in(piece: Piece) -> Stretch | None:
    """Return the stretch in the payload; none where the payload is empty."""
    if not piece.payload:
        return None
    before, behind, aside = pickle.loads(_unpacked(piece.payload))
    return Stretch(pickle.loads(before), pickle.loads(behind), tuple(aside))


def pieces_of(run: str, lines: Iterable[Located | Piece], day: int) -> Iterator[Piece]:
    """Yield the lines of a run, which are in order, in blocks; ``day`` is that of the first.

    Pieces among the lines stay as they are.
    """
    waiting: list[Located] = []
    size = 0
    for line in lines:
        if isinstance(line, Piece):
            yield line
            continue
        waiting.append(line)
        size += len(line.raw)
        if len(waiting) >= MOST_LINES or size >= MOST_BYTES:
            yield _lines_piece(run, waiting, day)
            waiting, size = [], 0
    if waiting:
        yield _lines_piece(run, waiting, day)


def _lines_piece(run: str, lines: list[Located], day: int) -> Piece:
    files = {line.file: place for place, line in enumerate(lines)}
    names = {file: place for place, file in enumerate(files)}
    block = _Block(
        list(names),
        [names[line.file] for line in lines] if len(names) > 1 else [],
        _differences([line.seq for line in lines]),
        _differences([line.number for line in lines]),
        [len(line.raw) for line in lines],
        b"".join(line.raw for line in lines),
    )
    packed = _packed(_ENCODER.encode(block))
    return Piece(run, PieceKind.LINES, lines[0].seq, len(lines), day, packed)


def lines_in(piece: Piece) -> Iterator[Located]:
    """Yield the lines that a piece holds, in order."""
    block = _BLOCKS.decode(_unpacked(piece.payload))
    text = block.text
    files = block.file_of_line or [0] * len(block.ends)
    places = pairwise(accumulate(block.ends, initial=0))
    columns = zip(accumulate(block.seqs), files, accumulate(block.numbers), places, strict=True)
    for seq, file, number, (begin, end) in columns:
        yield Located(piece.run, seq, block.files[file], number, text[begin:end])


def _differences(values: list[int]) -> list[int]:
    return [values[0], *(after - before for before, after in pairwise(values))]


def _packed(plain: bytes) -> bytes:
    compressed: bytes = pa.compress(plain, codec="zstd", asbytes=True)
    return len(plain).to_bytes(_LENGTH, "big") + compressed


def _unpacked(packed: bytes) -> bytes:
    size = int.from_bytes(packed[:_LENGTH], "big")
    plain: bytes = pa.decompress(packed[_LENGTH:], size, codec="zstd", asbytes=True)
    return plain


def piece_batches(pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    """Yield pieces as Spark takes them from a worker."""
    for batch in _batches(pieces):
        runs, kinds, seqs, lines, days, payloads = zip(*batch, strict=True)
        columns = [texts(runs), *map(integers, (kinds, seqs, lines, days))]
        yield pa.RecordBatch.from_arrays([*columns, binaries(payloads)], schema=_PIECES)


def pieces_in(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """Yield pieces as Spark hands them to a worker."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in _PIECES.names]
        yield from map(Piece._make, zip(*columns, strict=True))


def row_batches(rows: Iterable[CarriedRow]) -> Iterator[pa.RecordBatch]:
    """Yield rows as Spark takes them from a worker."""
    for batch in _batches(rows):
        tables, days, components, payloads = zip(*batch, strict=True)
        columns = [texts(tables), integers(days), texts(components), binaries(payloads)]
        yield pa.RecordBatch.from_arrays(columns, schema=_ROWS)


def _batches(items: Iterable[_Sent]) -> Iterator[list[_Sent]]:
    """Yield items in batches that a worker can hold, by their number and the bytes of payloads."""
    waiting: list[_Sent] = []
    size = 0
    for item in items:
        waiting.append(item)
        size += len(item.payload)
        if len(waiting) >= MOST_LINES or size >= MOST_BYTES:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def scratch_folder() -> Path | None:
    """Return a worker's scratch folder: the first of Spark's local folders, or None."""
    local = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(local) if local and Path(local).is_dir() else None
