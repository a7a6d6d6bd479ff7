"""The tasks that replay: pieces in the order of their runs go in, rows come out.

Theory of operation. The pieces of a run come together here. A single piece that is judged already
gives its rows. Blocks of lines are put in order, in memory where they do not overlap, as those of a
log that is rotated, and replayed. Where a run is cut, the replay leaps over its stretches. A run
that was judged in one share and has lines in another, or was judged in two, or whose stretches do
not fit, has to be read again: its name is given in the place of its rows.
"""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby

import msgspec
import pyarrow as pa

from purgatory_spark.engine.pieces import (
    AGAIN,
    MOST_ASIDE,
    SORTED_BYTES,
    SUMMARY,
    UNKNOWN_DAY,
    CarriedRow,
    Piece,
    PieceKind,
    lines_in,
    pieces_in,
    row_batches,
    rows_in,
    scratch_folder,
    stretch_in,
)
from purgatory_spark.engine.splits import Split
from purgatory_traces.engines.external_sort import ExternalSort, itself
from purgatory_traces.errors import OutOfOrder
from purgatory_traces.replay import RunReplay, replay
from purgatory_traces.replay.stretches import leap
from purgatory_traces.results.rows import QuarantineRow, Row, VerdictRow
from purgatory_traces.results.schemas import TABLE_OF_ROW
from purgatory_traces.summary.summary import Summary
from purgatory_traces.traces.lines import Located


@dataclass(frozen=True)
class ReplayPieces:
    """Turns the pieces of a partition into rows, and a summary of them, also where there are none.

    Attributes:
        examples: How many runs of a cause the summary keeps as examples.
        replays: Whether lines of runs are replayed; else their runs have to be read again.
    """

    examples: int = 1
    replays: bool = True

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Replay the runs of one partition; called by Spark in its workers."""
        yield from row_batches(self._carried(pieces_in(batches)))

    def _carried(self, pieces: Iterable[Piece]) -> Iterator[CarriedRow]:
        summary = Summary(most_examples=self.examples)
        before: str | None = None
        again = 0
        splits: list[Split] = []
        for run, of_run in groupby(pieces, key=lambda piece: piece.run):
            if before is not None and run <= before:
                raise OutOfOrder(
                    f"run {run!r} was handed over after run {before!r}: "
                    "the engine has to sort by run, seq and kind"
                )
            before = run
            component = ""
            for row, day in _rows_of_run(run, of_run, self.replays):
                if isinstance(row, str):
                    again += 1
                    yield CarriedRow(AGAIN, day, "", row.encode())
                    continue
                if isinstance(row, Split):
                    splits.append(row)
                    continue
                summary.take(row)
                if isinstance(row, VerdictRow):
                    component = row.component
                payload = msgspec.json.encode(row._asdict())
                yield CarriedRow(TABLE_OF_ROW[type(row)].value, day, component, payload)
        yield CarriedRow(SUMMARY, UNKNOWN_DAY, "", pickle.dumps((summary, again, splits)))


def _rows_of_run(
    run: str, pieces: Iterator[Piece], replays: bool
) -> Iterator[tuple[Row | Split | str, int]]:
    """Yield rows with the day of their run; for a run to be read again, yield its name."""
    is_cut = False
    for piece in pieces:
        if piece.kind == PieceKind.ROWS:
            for row in rows_in(piece):
                yield row, piece.day
            continue
        if piece.kind == PieceKind.CUT:
            is_cut = True
            continue
        rows: Iterable[Row | Split] | None = None
        if piece.kind == PieceKind.JUDGED:
            rows = rows_in(piece) if next(pieces, None) is None else None
        elif replays:
            lines = chain([piece], pieces)
            rows = _joined(run, lines) if is_cut else replay(_in_order(lines))
        if rows is None:
            yield run, piece.day
            return
        for row in rows:
            yield row, piece.day


def _joined(run: str, pieces: Iterable[Piece]) -> list[Row] | None:
    """Return the rows of a run that is cut; None where its parts do not fit."""
    whole = RunReplay(run)
    aside: list[QuarantineRow] = []
    reached = -1
    for kind, of_kind in groupby(pieces, key=lambda piece: piece.kind):
        if kind == PieceKind.LINES:
            for line in _in_order(of_kind):
                if line.seq <= reached or len(aside) > MOST_ASIDE:
                    return None
                row = whole.take(line)
                if row is not None:
                    aside.append(row)
            continue
        for piece in of_kind:
            stretch = stretch_in(piece)
            if stretch is None or not leap(whole, stretch):
                return None
            aside += stretch.aside
            reached = piece.seq + piece.lines - 1
    return [*aside, *whole.finish()] if len(aside) <= MOST_ASIDE else None


def _in_order(pieces: Iterable[Piece]) -> Iterator[Located]:
    """Yield the lines of a run, from blocks that are in the order of their first lines.

    Blocks that overlap are sorted together, on disk where they do not fit into memory.

    Raises:
        OutOfOrder: the blocks are not in order.
    """
    pending = iter(pieces)
    first = next(pending, None)
    while first is not None:
        with ExternalSort(Located, itself, scratch_folder(), SORTED_BYTES) as sorting:
            latest = _add(sorting, first, first.seq)
            followed = None
            for piece in pending:
                if piece.seq < first.seq:
                    raise OutOfOrder(
                        f"lines from {piece.seq} on of run {piece.run!r} were handed over after "
                        f"those from {first.seq} on: the engine has to sort by run, seq and kind"
                    )
                if piece.seq > latest:
                    followed = piece
                    break
                latest = _add(sorting, piece, latest)
            yield from sorting.in_order()
        first = followed


def _add(sorting: ExternalSort[Located], piece: Piece, latest: int) -> int:
    """Add the lines of a piece; the largest number so far."""
    for line in lines_in(piece):
        sorting.add(line)
        latest = max(latest, line.seq)
    return latest
