"""The tasks that read: a share of the files goes in, pieces of runs come out.

Theory of operation. A task reads the files of its share and sorts their lines, in memory or on
disk, as the local engine does. A run that seems to lie whole in the share (it begins with number 0,
ends with the run's last line, and has as many lines as that number says) is judged at once, and its
rows are all that leaves the task. Of any other run what is judged here are its stretches, long and
without a gap; the lines before and between them leave in blocks. Whether a run that was judged here
has lines elsewhere, such as copies, is seen where the pieces of a run meet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import NamedTuple

import pyarrow as pa

from purgatory_spark.engine.pieces import (
    SORTED_BYTES,
    UNKNOWN_DAY,
    Piece,
    PieceKind,
    cut_mark,
    piece_batches,
    pieces_of,
    rows_piece,
    scratch_folder,
    stretch_piece,
)
from purgatory_spark.engine.splits import Split, file_of
from purgatory_traces.engines.external_sort import ExternalSort, itself
from purgatory_traces.replay import RunReplay, replay
from purgatory_traces.replay.stretches import WARMUP, may_begin
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.extents import Extent
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.sources import read_file

_ROWS_AT_A_TIME = 512
_MOST_RUNS = 50_000
"""The extents of so many runs of a share are kept in memory; any other run leaves as lines."""


class TraceFile(NamedTuple):
    """A file: its name in the rows, its path, and the day of its last change."""

    name: str
    place: str
    day: int


@dataclass(frozen=True)
class JudgeOrCut:
    """Turns the lines of a share into pieces.

    Attributes:
        judges: Whether a run that seems to lie whole in the share is judged.
        only: The runs that are asked for; None for all, and for what is of no run.
    """

    judges: bool = True
    only: frozenset[str] | None = None

    def pieces(
        self,
        share: str,
        lines: Iterable[Located | QuarantineRow],
        days: Mapping[str, int],
        splits: Sequence[Split] = (),
    ) -> Iterator[Piece]:
        """Yield the pieces of the runs in a share.

        Args:
            share: A name for what is of no run.
            lines: The lines, in any order.
            days: The day of each file.
            splits: The splits that were read, when the lines have come to their end.
        """
        with ExternalSort(Located, itself, scratch_folder(), SORTED_BYTES) as sorting:
            extents: dict[str, Extent] = {}
            aside: list[QuarantineRow] = []
            for line in lines:
                if isinstance(line, QuarantineRow):
                    if self.only is None:
                        aside.append(line)
                elif self.only is None or line.run in self.only:
                    sorting.add(line)
                    if line.run in extents or len(extents) < _MOST_RUNS:
                        extents.setdefault(line.run, Extent()).take(line)
                if len(aside) >= _ROWS_AT_A_TIME:
                    yield rows_piece(share, PieceKind.ROWS, 0, UNKNOWN_DAY, aside)
                    aside = []
            if aside or splits:
                yield rows_piece(share, PieceKind.ROWS, 0, UNKNOWN_DAY, [*aside, *splits])
            for run, of_run in groupby(sorting.in_order(), key=lambda line: line.run):
                yield from self._of_run(run, of_run, extents.get(run), days)

    def _of_run(
        self,
        run: str,
        lines: Iterator[Located],
        extent: Extent | None,
        days: Mapping[str, int],
    ) -> Iterator[Piece]:
        """Yield the pieces of a run whose lines are given in order."""
        first = next(lines)
        day, of_run = days[file_of(first.file)], chain([first], lines)
        if self.judges and extent is not None and extent.is_whole:
            yield rows_piece(run, PieceKind.JUDGED, extent.lines, day, replay(of_run))
        else:
            yield from pieces_of(run, _cut(run, of_run, day) if self.judges else of_run, day)


def _cut(run: str, lines: Iterable[Located], day: int) -> Iterator[Located | Piece]:
    """Yield the lines of a run in order, with a piece in place of each stretch."""
    without_gaps = groupby(enumerate(lines), key=lambda numbered: numbered[1].seq - numbered[0])
    for _, numbered in without_gaps:
        follow = (line for _, line in numbered)
        head = list(islice(follow, 2 * WARMUP))
        if len(head) < 2 * WARMUP or not may_begin(*head[:2]):
            yield from head
            yield from follow
            continue
        warmup = head[:WARMUP] if head[0].seq else []
        before = RunReplay(run)
        for line in warmup:
            before.take(line)
        yield cut_mark(run, day)
        yield from warmup
        yield stretch_piece(before, chain(head[len(warmup) :], follow), day)


@dataclass(frozen=True)
class ReadShares:
    """Turns the numbers of shares into pieces.

    Attributes:
        files: All files.
        shares: Which of them a task reads, by their numbers, for each share.
        then: What happens to the lines.
    """

    files: tuple[TraceFile, ...]
    shares: tuple[tuple[int, ...], ...]
    then: JudgeOrCut

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the files of the batches' shares; called by Spark in its workers."""
        for batch in batches:
            for share in batch.column("id").to_pylist():
                files = [self.files[number] for number in self.shares[share]]
                days = {file.name: file.day for file in files}
                yield from piece_batches(self.then.pieces(str(share), _lines_of(files), days))


def _lines_of(files: Iterable[TraceFile]) -> Iterator[Located | QuarantineRow]:
    for file in files:
        yield from read_file(file.place, file.name)
