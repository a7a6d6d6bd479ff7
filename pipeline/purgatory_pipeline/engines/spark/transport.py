"""What Spark's Python workers do: read files into lines, and replay the lines of runs.

Theory of operation. Lines go through Spark as rows of plain columns, a few thousand at a time, and
the raw line is one of them, not parsed: a worker holds one batch, the lines of the run that it is
following, if any, never. A file is a number, its place in the list of all files, which both workers
are given; so a line carries eight bytes for it, and the order of the numbers is that of the names.
A line that the reader could not use has no run, and goes the same way as the others: with a number
below all others, so that it comes before them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from purgatory_pipeline.errors import OutOfOrder
from purgatory_pipeline.replay import replay
from purgatory_pipeline.results.arrow_columns import binaries, integers, texts
from purgatory_pipeline.results.row_payloads import payload_of
from purgatory_pipeline.results.rows import QuarantineRow, Row
from purgatory_pipeline.traces.lines import Located
from purgatory_pipeline.traces.sources import read_file

LINE_COLUMNS = "run string, seq bigint, file bigint, number bigint, raw binary, problem string"
ROW_COLUMNS = "table string, payload binary"

_LINES = pa.schema(
    [
        ("run", pa.string()),
        ("seq", pa.int64()),
        ("file", pa.int64()),
        ("number", pa.int64()),
        ("raw", pa.binary()),
        ("problem", pa.string()),
    ]
)
_NO_SEQ = -1
_ROWS = pa.schema([("table", pa.string()), ("payload", pa.binary())])

MOST_LINES = 4096
"""Lines in a batch, at the most."""
MOST_BYTES = 4 << 20
"""A batch that holds so many bytes of raw lines is sent on."""


@dataclass(frozen=True)
class ReadFiles:
    """Turns the numbers of shares into the lines of their files.

    Attributes:
        files: Where all files are.
        shares: Which of them a task reads, by their numbers, for each share.
    """

    files: tuple[str, ...]
    shares: tuple[tuple[int, ...], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the files of the batches' shares; called by Spark in its workers."""
        for batch in batches:
            for share in batch.column("id").to_pylist():
                for file in self.shares[share]:
                    yield from _lines_of(file, self.files[file])


def _lines_of(file: int, path: str) -> Iterator[pa.RecordBatch]:
    """The lines of a file, in batches."""
    waiting: list[tuple[str, int, int, bytes, str]] = []
    size = 0
    for line in read_file(path):
        if isinstance(line, QuarantineRow):
            raw = line.raw.encode()
            waiting.append(("", _NO_SEQ, line.line, raw, line.reason))
        else:
            run, seq, _, number, raw = line
            waiting.append((run, seq, number, raw, ""))
        size += len(raw)
        if len(waiting) >= MOST_LINES or size >= MOST_BYTES:
            yield _line_batch(file, waiting)
            waiting.clear()
            size = 0
    if waiting:
        yield _line_batch(file, waiting)


def _line_batch(file: int, lines: list[tuple[str, int, int, bytes, str]]) -> pa.RecordBatch:
    runs, seqs, numbers, raws, problems = zip(*lines, strict=True)
    columns = [
        texts(runs),
        integers(seqs),
        integers([file] * len(lines)),
        integers(numbers),
        binaries(raws),
        texts(problems),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_LINES)


@dataclass(frozen=True)
class ReplayRuns:
    """Turns lines in the order of run and number into rows.

    Attributes:
        files: The names of all files, as the rows tell them, in order.
    """

    files: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Replay the runs of one partition; called by Spark in its workers."""
        waiting: list[tuple[str, bytes]] = []
        size = 0
        for row in self._rows(batches):
            waiting.append(payload_of(row))
            size += len(waiting[-1][1])
            if len(waiting) >= MOST_LINES or size >= MOST_BYTES:
                yield _row_batch(waiting)
                waiting.clear()
                size = 0
        if waiting:
            yield _row_batch(waiting)

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
        """The rows of all lines; those that have no run come first."""
        lines = self._lines(batches)
        for line in lines:
            if isinstance(line, QuarantineRow):
                yield line
            else:
                yield from replay(_placed(chain([line], lines)))

    def _lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Located | QuarantineRow]:
        files = self.files
        for batch in batches:
            columns = [batch.column(name).to_pylist() for name in _LINES.names]
            for run, seq, file, number, raw, problem in zip(*columns, strict=True):
                if seq == _NO_SEQ:
                    yield QuarantineRow(files[file], number, raw.decode(), problem)
                else:
                    yield Located(run, seq, files[file], number, raw)


def _placed(lines: Iterable[Located | QuarantineRow]) -> Iterator[Located]:
    """The lines, all of which have a run.

    Raises:
        OutOfOrder: one has none; it should have come before all others.
    """
    for line in lines:
        if isinstance(line, QuarantineRow):
            raise OutOfOrder(
                f"line {line.line} of {line.file}, which has no run, was handed over after lines "
                "of runs: the engine has to sort by run and seq"
            )
        yield line


def _row_batch(rows: list[tuple[str, bytes]]) -> pa.RecordBatch:
    tables, payloads = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays([texts(tables), binaries(payloads)], schema=_ROWS)
