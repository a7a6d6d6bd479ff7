"""The processor that Spark calls for each run in each batch: the replay of the run goes on.

Its rows replace what earlier batches said of the run, but for lines that are set aside for good.
Lines that are held when a batch ends would be set aside or judged if nothing came any more: what a
check would say of them stands until the next batch that has lines of the run.
"""

import pickle
from collections.abc import Iterator
from zlib import crc32

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from purgatory_traces.replay.reordered_run import ReorderedRun
from purgatory_traces.results.rows import QuarantineRow, Row
from purgatory_traces.results.schemas import payload_of
from purgatory_traces.traces.lines import Located

RECORD_COLUMNS = "home bigint, run string, table string, for_good boolean, payload binary"
"""A row of a table on its way there, with its run's home; see ``tables``."""

_SHARES = 64
"""The homes of one order: many runs that begin together are spread over several parts."""


class RunProcessor(StatefulProcessor):
    """Follows one run from batch to batch; its state is its home and a pickled ``ReorderedRun``."""

    def __init__(self, most_held: int) -> None:
        """Hold at most so many lines of a run that wait for missing ones."""
        self._most_held = most_held

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Get hold of the state."""
        self._state = handle.getValueState("run", "home bigint, pickled binary")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[str],
        rows: Iterator[SparkRow],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[SparkRow]:
        """Take in the lines of one run that a batch brings."""
        run = key[0]
        lines: list[Located] = []
        aside: list[QuarantineRow] = []
        order = 0
        for row in rows:
            order, raw = row.order, bytes(row.raw)
            if row.reason is None:
                lines.append(Located(run, row.seq, row.file, row.number, raw))
            else:
                text = raw.decode("utf-8", "backslashreplace")
                aside.append(QuarantineRow(row.file, row.number, text, row.reason))
        home, followed = self._followed(run, order)
        for each in aside:
            yield _record(home, run, each, for_good=True)
        if not lines:
            return
        lines.sort()
        for line in lines:
            for late in followed.take(line):
                yield _record(home, run, late, for_good=True)
        self._state.update((home, pickle.dumps(followed, pickle.HIGHEST_PROTOCOL)))
        for told in followed.so_far():
            yield _record(home, run, told, for_good=False)

    def _followed(self, run: str, order: int) -> tuple[int, ReorderedRun]:
        """Return the run's home and its replay; new ones where none are kept."""
        state = self._state.get() if self._state.exists() else None
        if state is None:
            home = order * _SHARES + crc32(run.encode()) % _SHARES
            return home, ReorderedRun(run, self._most_held)
        followed = pickle.loads(bytes(state[1]))
        assert isinstance(followed, ReorderedRun)
        return state[0], followed

    def close(self) -> None:
        """Close nothing: nothing is held open."""


def _record(home: int, run: str, row: Row, *, for_good: bool) -> SparkRow:
    table, payload = payload_of(row)
    return SparkRow(home=home, run=run, table=table, for_good=for_good, payload=bytearray(payload))
