"""A run whose lines come in any order: those that come early are held until their turn.

For engines that cannot sort. A line with a smaller number than the one whose turn it is comes too
late, or a second time: it is set aside (where a later line has come, without a comparison with the
first one of its number: that one is not kept). Where too many lines are held, those that are
missing are not waited for any longer: the run has a hole there.
"""

import pickle
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from purgatory_traces.replay.run_replay import RunReplay
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, VerdictRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import WHY_NOT

MOST_HELD = 100_000
"""The most lines of a run held, by default, before its missing lines are given up."""


@dataclass(slots=True)
class ReorderedRun:
    """A run of a trace; it can be pickled between any two lines, with the lines that it holds.

    Attributes:
        run: Its name.
        most_held: How many lines are held before those that are missing are given up.
    """

    run: str
    most_held: int = MOST_HELD
    _replay: RunReplay = field(init=False)
    _turn: int = 0
    _held: list[Located] = field(default_factory=list)
    _given_up: list[range] = field(default_factory=list)
    """The numbers that are not waited for any longer."""

    def __post_init__(self) -> None:
        self._replay = RunReplay(self.run)

    @property
    def held(self) -> int:
        """Return the number of lines that wait for missing ones."""
        return len(self._held)

    def take(self, located: Located) -> Iterator[QuarantineRow]:
        """Take in a line; rows for lines that are set aside."""
        if located.seq > self._turn:
            insort(self._held, located)
            if len(self._held) > self.most_held:
                yield from self._give_up()
            return
        if located.seq == self._turn:
            yield from self._pass_on(located)
            yield from self._release()
        else:
            yield from self._late(located)

    def _release(self) -> Iterator[QuarantineRow]:
        """Pass on what is held and has its turn now, in order."""
        released = 0
        for located in self._held:
            if located.seq > self._turn:
                break
            released += 1
            if located.seq < self._turn:
                yield from self._late(located)
            else:
                yield from self._pass_on(located)
        del self._held[:released]

    def _give_up(self) -> Iterator[QuarantineRow]:
        """Wait no longer for what is missing before the first line that is held."""
        first = self._held[0].seq
        if first > self._turn:
            self._given_up.append(range(self._turn, first))
        self._turn = first
        yield from self._release()

    def _late(self, located: Located) -> Iterator[QuarantineRow]:
        if located.raw in WHY_NOT:
            self._replay.disbelieve(located)
        elif any(located.seq in missing for missing in self._given_up):
            yield self._replay.too_late(located)
        else:
            yield self._replay.repeated(located)

    def _pass_on(self, located: Located) -> Iterator[QuarantineRow]:
        self._turn = located.seq + 1
        row = self._replay.take(located)
        if row is not None:
            yield row

    def finish(self) -> Iterator[Row]:
        """Yield the rows of the run, and of lines held in vain, when no line follows."""
        while self._held:
            yield from self._give_up()
        yield from self._replay.finish()

    def so_far(self) -> Iterator[VerdictRow | CoverageRow | QuarantineRow]:
        """Yield the rows that ``finish`` would give now; the run goes on unchanged."""
        copy: ReorderedRun = pickle.loads(pickle.dumps(self))
        yield from copy.finish()
