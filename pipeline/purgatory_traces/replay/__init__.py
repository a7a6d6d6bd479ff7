"""The one replay: lines in the order of run and number go in, rows come out.

Every engine calls it, and it knows of none. ``RunReplay`` follows a single run, for engines that
are handed the lines of many runs mixed.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from purgatory_traces.errors import OutOfOrder
from purgatory_traces.replay.run_replay import RunReplay, rows_of
from purgatory_traces.results.rows import Row
from purgatory_traces.traces.lines import Located

__all__ = ["RunReplay", "replay"]


def replay(lines: Iterable[Located]) -> Iterator[Row]:
    """Yield the verdicts, the coverage and the lines set aside, of any number of runs.

    Args:
        lines: By run, and within a run by number; equal numbers by file and line.

    Raises:
        OutOfOrder: they are not; never taken for something that the traced system did.
    """
    before: str | None = None
    for run, of_run in groupby(lines, key=lambda located: located.run):
        if before is not None and run <= before:
            raise OutOfOrder(
                f"run {run!r} was handed over after run {before!r}: "
                "the engine has to sort by run and seq"
            )
        before = run
        yield from rows_of(RunReplay(run), of_run)
