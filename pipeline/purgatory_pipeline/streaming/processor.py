"""The processor that Spark calls for each run in each batch: the replay of the run goes on."""

import pickle
from collections.abc import Iterator

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from purgatory_pipeline.replay.reordered_run import ReorderedRun
from purgatory_pipeline.results.rows import QuarantineRow
from purgatory_pipeline.streaming.records import Record, Validity, record_of
from purgatory_pipeline.traces.lines import Located

RECORD_COLUMNS = "run string, table string, standing string, payload binary"
"""A ``Record``."""


class RunProcessor(StatefulProcessor):
    """Follows one run from batch to batch; its state is a pickled ``ReorderedRun``."""

    def __init__(self, most_held: int) -> None:
        """How many lines of a run are held at the most for others that have not come."""
        self._most_held = most_held

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Get hold of the state."""
        self._state = handle.getValueState("run", "pickled binary")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[str],
        rows: Iterator[SparkRow],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[SparkRow]:
        """Take in the lines of one run that a batch brings."""
        run = key[0]
        for record in self._records(run, rows):
            yield SparkRow(
                run=record.run,
                table=record.table,
                standing=record.standing,
                payload=bytearray(record.payload),
            )

    def _records(self, run: str, rows: Iterator[SparkRow]) -> Iterator[Record]:
        lines: list[Located] = []
        for row in rows:
            raw = bytes(row.raw)
            if row.reason is None:
                lines.append(Located(run, row.seq, row.file, row.number, raw))
            else:
                text = raw.decode("utf-8", "backslashreplace")
                aside = QuarantineRow(row.file, row.number, text, row.reason)
                yield record_of(run, aside, Validity.FOR_GOOD)
        if not lines:
            return
        lines.sort()
        followed = self._followed(run)
        for line in lines:
            for late in followed.take(line):
                yield record_of(run, late, Validity.FOR_GOOD)
        self._state.update((pickle.dumps(followed, pickle.HIGHEST_PROTOCOL),))
        for told in followed.so_far():
            yield record_of(run, told, Validity.UNTIL_NEXT)

    def _followed(self, run: str) -> ReorderedRun:
        state = self._state.get() if self._state.exists() else None
        if state is None:
            return ReorderedRun(run, self._most_held)
        followed = pickle.loads(bytes(state[0]))
        assert isinstance(followed, ReorderedRun)
        return followed

    def close(self) -> None:
        """Nothing is held open."""
