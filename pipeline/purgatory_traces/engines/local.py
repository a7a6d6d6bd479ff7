"""The engine without Spark: reads, sorts and replays in this process.

Theory of operation. What a run's lines are worth can change until the last file has been read: a
line that is missing, or a second one with its number, may stand anywhere. So all lines are sorted
first, by run, number, file and line, on disk where they do not fit into memory; then they are
replayed, one run after the other. This is what every engine does, in the same order, and therefore
the rows are the same whatever engine is used and however the lines are spread over files.

Memory is bounded by a chunk of the sort and by the judge of one run. Input that is in order already
costs the sort little: it is written once and read once, and not merged.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from purgatory_traces.engines.external_sort import CHUNK_BYTES, ExternalSort, itself
from purgatory_traces.engines.progress_bar import Show
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import QuarantineRow, Row
from purgatory_traces.traces.extents import Extent
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.sources import files_of, read_file

_LOGGER = logging.getLogger(__name__)
_LINES_BETWEEN_NEWS = 5000


def check_locally(
    paths: Iterable[str | Path],
    *,
    scratch: Path | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Show | None = None,
    estimated: int = 0,
    earlier: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield the rows of all runs in the files that paths stand for.

    First those about lines whose run could not be read, then run by run.

    Args:
        paths: Files, folders and patterns.
        scratch: A folder for what does not fit into memory; the system's, if none is given.
        chunk_bytes: How many bytes of lines are held in memory at a time, about.
        progress: Is told how far the engine is.
        estimated: How many lines there are, about.
        earlier: Further files, which have been checked before: of them no more is read than the
            lines of runs that do not lie whole in the others.

    Raises:
        NothingThere: a path stands for nothing.
        MissingExtra: a file is Parquet, and pyarrow is not installed.
    """
    lines = 0
    extents: defaultdict[str, Extent] = defaultdict(Extent)
    with ExternalSort(Located, itself, scratch, chunk_bytes) as sorting:
        for file in files_of(paths):
            _LOGGER.debug("reading %s", file)
            for line in read_file(file):
                if isinstance(line, QuarantineRow):
                    yield line
                    continue
                sorting.add(line)
                if earlier:
                    extents[line.run].take(line)
                lines += 1
                if progress is not None and lines % _LINES_BETWEEN_NEWS == 0:
                    progress(lines, estimated, "reading")
        cut = {run for run, extent in extents.items() if not extent.is_whole}
        for file in earlier if cut else ():
            for line in read_file(file):
                if isinstance(line, Located) and line.run in cut:
                    sorting.add(line)
                    lines += 1
        _LOGGER.info("%d lines read and sorted; replaying", lines)
        yield from replay(_counted(sorting.in_order(), lines, progress))


def _counted(ordered: Iterator[Located], lines: int, progress: Show | None) -> Iterator[Located]:
    for number, located in enumerate(ordered):
        if progress is not None and number % _LINES_BETWEEN_NEWS == 0:
            progress(number, lines, "judging")
        yield located
