"""Spans: what is to be read of a file, from one byte to another, and how a worker reads it.

Between the look that finds a span and the worker that reads it, a file may be renamed and its name
given to another one. So a span says which file is meant, by its inode and by a digest of its first
bytes. Where the file of that name begins otherwise, a worker looks for the one that is meant in the
watched folder.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa

from purgatory_spec.named_files import named_file
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.sources import read_changed, read_file, read_part, sources_of

HEAD_BYTES = 4096
"""The most bytes at the beginning of a file that tell it from others."""

LINES = pa.schema(
    [
        ("run", pa.string()),
        ("seq", pa.int64()),
        ("file", pa.string()),
        ("number", pa.int64()),
        ("raw", pa.binary()),
        ("reason", pa.string()),
        ("order", pa.int64()),
    ]
)
"""A line of a trace on its way to its run; ``reason`` is given where it cannot be used."""

_LINES_AT_ONCE = 5_000


class Span(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a file that is to be read.

    Attributes:
        order: The number of the order that it is in, from 0.
        name: The file, as it was called when it was looked at.
        inode: The number of the file in its file system.
        head: A digest of its first ``head_bytes``.
        head_bytes: At most ``HEAD_BYTES``.
        start: The first byte.
        stop: The byte behind the last one; None for all of a file that is read as a whole.
        problem: Why no line of the file counts; empty where they do.
    """

    order: int
    name: str
    inode: int
    head: str
    head_bytes: int
    start: int
    stop: int | None
    problem: str = ""


def head_of(name: str, most: int = HEAD_BYTES) -> tuple[str, int]:
    """Return a digest of the first bytes of a file, and the number of these bytes.

    Raises:
        OSError: it cannot be read.
    """
    with named_file(name).open("rb") as file:
        beginning = file.read(most)
    return blake2b(beginning, digest_size=16).hexdigest(), len(beginning)


def read_span(span: Span, folder: str) -> Iterator[Located | QuarantineRow]:
    """Yield the lines of a span; its file is looked for in the folder where it has another name."""
    place = _place_of(span, folder)
    if place is None:
        reason = "it was gone before it could be read"
        if span.start:
            reason = f"{reason} on, from byte {span.start}"
        yield QuarantineRow(span.name, 0, "", reason)
        return
    if span.problem:
        lines = read_changed(place, span.problem)
    elif span.stop is None:
        lines = read_file(place)
    else:
        lines = read_part(place, span.start, span.stop)
    for line in lines:
        yield line._replace(file=span.name)


def _place_of(span: Span, folder: str) -> str | None:
    if _is_meant(span, span.name):
        return span.name
    for name in sources_of([folder]).files:
        with suppress(OSError):
            if Path(name).stat().st_ino == span.inode and _is_meant(span, name):
                return name
    return None


def _is_meant(span: Span, name: str) -> bool:
    try:
        return head_of(name, span.head_bytes) == (span.head, span.head_bytes)
    except OSError:
        return False


@dataclass(frozen=True)
class ReadSpans:
    """Turns spans, as lines of an order, into lines of traces; called by Spark in its workers.

    Attributes:
        folder: The watched folder.
    """

    folder: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the spans, batch by batch."""
        decoder = msgspec.json.Decoder(Span)
        for batch in batches:
            for line in batch.column("value").to_pylist():
                span = decoder.decode(line)
                yield from line_batches(read_span(span, self.folder), span.order)


def line_batches(lines: Iterable[Located | QuarantineRow], order: int) -> Iterator[pa.RecordBatch]:
    """Yield lines as Spark takes them from a worker; ``order`` numbers what they were read for."""
    left = iter(lines)
    while some := list(islice(left, _LINES_AT_ONCE)):
        columns = [*zip(*map(_fields, some), strict=True), [order] * len(some)]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, LINES.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=LINES)


def _fields(line: Located | QuarantineRow) -> tuple[str, int | None, str, int, bytes, str | None]:
    if isinstance(line, QuarantineRow):
        return "", None, line.file, line.line, line.raw.encode(), line.reason
    return line.run, line.seq, line.file, line.number, line.raw, None
