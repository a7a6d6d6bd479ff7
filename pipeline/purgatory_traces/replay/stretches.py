"""Stretches: lines of a long run that are judged apart from the lines before them.

Theory of operation. A snapshot does not tell all that a judge knows: not the rules that the expiry
of a pending task puts to the test, nor what was done so far that another rule may be put down to.
Most of that is over soon. So a judge that begins at a snapshot is not believed there: ``WARMUP``
lines later it is compared, part by part, with the one that has followed the run up to that line.
Where both know the same, they say the same of every line that follows, since a judge knows nothing
else; then the replay *leaps* over the rest of the stretch. Where they differ nothing is taken
over, and the run is judged line by line.

A stretch is begun where that can come to pass: at the run's first line, or at a first line with a
snapshot that leaves out nothing the profile shows; on a manual clock, where names are forgotten,
and without declared deviations. A judge of calls that overlap numbers them and remembers what
became of the latest thousand names, so that two of them never know the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass
from typing import Final

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.replacing import replace
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import TraceJudge
from purgatory_traces.replay.run_replay import RunReplay
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.snapshots.snapshots import profile_after_snapshot
from purgatory_traces.traces.lines import Begin, Located, ManualClock, Snapshot
from purgatory_traces.traces.parsing import parse

WARMUP: Final = 2048
"""The number of lines after which a judge that began at a snapshot is compared."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that were judged: the replay before them and behind, and what was set aside of them."""

    before: RunReplay
    behind: RunReplay
    aside: tuple[QuarantineRow, ...]


def may_begin(first: Located, second: Located) -> bool:
    """Decide whether a stretch may begin with two lines of a run."""
    try:
        begin, snapshot = parse(first.raw), parse(second.raw)
    except Unusable:
        return False
    if not isinstance(begin, Begin) or not isinstance(begin.clock, ManualClock):
        return False
    if begin.keeps_names or begin.deviations:
        return False
    if first.seq and not isinstance(snapshot, Snapshot):
        return False
    return profile_after_snapshot(begin.instance) == begin.instance.profile


def leap(replay: RunReplay, stretch: Stretch) -> bool:
    """Pass over the lines of a stretch that follows, if what was found in it holds; else nothing.

    It does where the replay knows what the one of the stretch knew before these lines; or where no
    line is judged any more, and each of them can be used.
    """
    before, behind = stretch.before, stretch.behind
    if not replay.is_at_place_of(before):
        return False
    if replay.is_decided:
        if stretch.aside or behind.has_hole:
            return False
        replay.pass_over(before, behind)
        return True
    if before.is_decided or not _know_the_same(replay.judge, before.judge):
        return False
    replay.take_over(before, behind)
    return True


def _know_the_same(one: TraceJudge | None, other: TraceJudge | None) -> bool:
    """Decide whether two judges of a run judge its future alike; visits are only counted."""
    if one is None or other is None:
        return one is other
    return _Comparison({(id(one.visits), id(other.visits))}).are_alike(one, other)


@dataclass(slots=True)
class _Comparison:
    """Compares what two objects hold; ``pairs`` were compared, or are being."""

    pairs: set[tuple[int, int]]

    def are_alike(self, one: object, other: object) -> bool:
        if one is other or (id(one), id(other)) in self.pairs:
            return True
        if type(one) is not type(other):
            return False
        if isinstance(one, Begin) and isinstance(other, Begin):
            return one.says_the_same(other)
        if isinstance(one, MemoryPoolState) and isinstance(other, MemoryPoolState):
            return _without_counts(one) == _without_counts(other)
        if isinstance(one, dict) and isinstance(other, dict):
            return self._all_alike(one, other) and self._all_alike(one.values(), other.values())
        if isinstance(one, tuple | list) and isinstance(other, tuple | list):
            return self._all_alike(one, other)
        has_equality = type(one).__eq__ is not object.__eq__
        if callable(one) or (has_equality and not is_dataclass(one)):
            return one == other
        self.pairs.add((id(one), id(other)))
        return self.are_alike(one.__getstate__(), other.__getstate__())

    def _all_alike(self, one: Iterable[object], other: Iterable[object]) -> bool:
        """Decide whether two rows of objects are alike, in their order."""
        ours, others = list(one), list(other)
        return len(ours) == len(others) and all(map(self.are_alike, ours, others))


def _without_counts(state: MemoryPoolState) -> MemoryPoolState:
    """Return the state without its dry spells, on which requests and releases do not depend."""
    return replace(state, depleted_spells=0, depleted_ms=0)
