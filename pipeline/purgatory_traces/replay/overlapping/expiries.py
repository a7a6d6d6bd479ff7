"""Expiries on a real clock: when each has to have come, and its line with it.

Lateness is a SHOULD. That an expiry is missing is said when its line should have come, too: a line
may be as late as the expiry that it tells of. So rules that a missing expiry breaks are visited
when that time has passed, and never where the trace ends before.
"""

from abc import abstractmethod
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from purgatory_judge.expiry_interval import ExpiryInterval
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.follower import Follower, Kept
from purgatory_traces.traces.lines import MemoryPoolInstance, WallClock

MOST_PASSING = 1024
_FEW = 64


@dataclass(slots=True)
class Deadlines:
    """Names with a time each, ms; a name may have several.

    An entry is not taken out when its name is done with; it is found to mean nothing when its time
    comes. Where most entries mean nothing the heap is made anew, so that it stays as large as what
    is live.
    """

    _heap: list[tuple[int, str]] = field(default_factory=list)

    def put(self, at_ms: int, name: str) -> None:
        """Put a name to wait for a time."""
        heappush(self._heap, (at_ms, name))

    def before(self, now_ms: int) -> Iterator[str]:
        """Take out the names whose time lies before a reading, the earliest first."""
        while self._heap and self._heap[0][0] < now_ms:
            yield heappop(self._heap)[1]

    def is_crowded(self, live: int) -> bool:
        """Decide whether most entries are obsolete, with so many live ones."""
        return len(self._heap) > _FEW + 2 * live

    def rebuild(self, entries: Iterable[tuple[int, str]]) -> None:
        """Keep only the given entries, each a time and a name."""
        self._heap = list(entries)
        heapify(self._heap)

    def __len__(self) -> int:
        return len(self._heap)


@dataclass(slots=True)
class PassingRules:
    """Rules that hold once a time has passed, and nothing more can come.

    Where more is waited for at a time than is kept here, those with the earliest times are kept,
    and the visits of the rest are not counted.
    """

    _passing: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def put(self, late_ms: int, rules: frozenset[str]) -> None:
        """Count a visit of these rules once the clock has passed a reading."""
        if len(self._passing) >= MOST_PASSING:
            if late_ms >= self._passing[-1][0]:
                return
            self._passing.pop()
        insort(self._passing, (late_ms, tuple(sorted(rules))))

    def pass_to(self, now_ms: int, visits: Counter[str]) -> None:
        """Count what the clock has passed."""
        if not self._passing or self._passing[0][0] >= now_ms:
            return
        passed = bisect_left(self._passing, (now_ms, ()))
        for _, rules in self._passing[:passed]:
            visits.update(rules)
        del self._passing[:passed]


@dataclass(slots=True)
class ExpiryFollower(Follower[Kept]):
    """A follower of what expires, by names.

    Attributes:
        interval: How expiries follow from readings of the clock.
        deadlines: When they have to have come, and the lines that say so.
        passing: What must not happen any more, and has not so far.
        came: What has expired in time, by name, until its absence would have been told: by when,
            and the rules that it would have broken.
        came_by: These times.
        closing: Whether a shutdown has begun.
        closed: Whether one has returned.
        cut_off: What was due and not overdue when the shutdown began, and has not come.
    """

    interval: ExpiryInterval = field(init=False)
    deadlines: Deadlines = field(default_factory=Deadlines)
    passing: PassingRules = field(default_factory=PassingRules)
    came: dict[str, tuple[int, frozenset[str]]] = field(default_factory=dict)
    came_by: Deadlines = field(default_factory=Deadlines)
    closing: bool = False
    closed: bool = False
    cut_off: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin without knowledge of any task or operation.

        Raises:
            Unusable: the clock does not move by itself.
        """
        Follower.__post_init__(self)
        clock, instance = self.begin.clock, self.begin.instance
        if not isinstance(clock, WallClock):
            raise Unusable("the clock of this run is moved by its lines")
        assert not isinstance(instance, MemoryPoolInstance)
        tick_ms, rounding = instance.configuration.tick_ms, instance.profile.rounding
        self.interval = ExpiryInterval(tick_ms, rounding, clock.lateness_ms)

    @property
    @abstractmethod
    def live(self) -> int:
        """Return the number of names that are followed."""

    @property
    @abstractmethod
    def awaited(self) -> int:
        """Return the number of expiries that have to come."""

    @abstractmethod
    def waited_for(self) -> Iterator[tuple[int, str]]:
        """Return the latest time of each expiry that may be missing, with its name."""

    @abstractmethod
    def overdue(self, name: str, over_ms: int, now_ms: int) -> Finding | None:
        """Return a finding if a name should have expired by a reading in any case."""

    def wait_for(self, late_ms: int, name: str) -> None:
        """Wait for an expiry until its latest time, and for its line soon after."""
        self.deadlines.put(late_ms + self.interval.lateness_ms, name)

    def has_come(self, name: str, late_ms: int, rules: frozenset[str]) -> None:
        """Note an expiry in time: its rules are visited when its absence would be told."""
        if len(self.came_by) < MOST_PASSING:
            told_ms = late_ms + self.interval.lateness_ms
            self.came[name] = told_ms, rules
            self.came_by.put(told_ms, name)

    def excuse(self, name: str, at_ms: int) -> None:
        """Excuse a missing expiry by a call that begins before: that is no visit."""
        if name in self.came and at_ms <= self.came[name][0]:
            del self.came[name]

    def begins_to_close(self) -> bool:
        """Note that a shutdown begins; return whether it is the first.

        From now on no owed expiry need come. So the expiries that came before, and are not late
        yet, could be missing without a finding: they are visits no longer.
        """
        is_first, self.closing = not self.closing, True
        if is_first:
            self.came.clear()
        return is_first

    def pending_expiries(self) -> int:
        """Return the number of awaited expiries; see ``Follower``."""
        return len(self.cut_off) if self.closing else self.awaited

    def passed(self, now_ms: int) -> Finding | None:
        """Return a finding if an expiry should have come by now, with its line."""
        self.passing.pass_to(now_ms, self.visits)
        for name in self.came_by.before(now_ms):
            if name in self.came and self.came[name][0] < now_ms:
                self.visits.update(self.came.pop(name)[1])
        lateness_ms = self.interval.lateness_ms
        if self.deadlines.is_crowded(self.live):
            self.deadlines.rebuild((at + lateness_ms, name) for at, name in self.waited_for())
        for name in self.deadlines.before(now_ms):
            finding = self.overdue(name, now_ms - lateness_ms, now_ms)
            if finding is not None:
                return finding
        return None

    def ended(self, now_ms: int) -> Finding | None:
        """Return a finding if an expiry should have come by the end."""
        for _, name in sorted(self.waited_for()):
            finding = self.overdue(name, now_ms, now_ms)
            if finding is not None:
                return finding
        self.passing.pass_to(now_ms, self.visits)
        for told_ms, rules in self.came.values():
            if told_ms < now_ms + self.interval.lateness_ms:
                self.visits.update(rules)
        return None
