"""Check that every history of a concurrent model is explained, without a list of them.

A monitor follows the history of a run. What may still come depends on where the run is and on what
the monitor remembers, and on nothing else; so it is enough to visit every pair of the two, and a
few thousand pairs stand for millions of histories. The visit is breadth first: the run to the
first event that nothing explains is a shortest one.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from purgatory_model.overlapping.histories import (
    LIMIT,
    LimitReached,
    NeverOver,
    too_many,
    why_never_over,
)
from purgatory_model.overlapping.interleaving import History, State, Step
from purgatory_model.overlapping.linearizability import Memory, Monitor
from purgatory_model.overlapping.programs import Programmed, Progress


@dataclass(frozen=True, slots=True)
class UnexplainedRun:
    """A shortest run to an event that nothing explains: its steps, and the history up to there."""

    steps: tuple[Step, ...]
    history: History


@dataclass(frozen=True, slots=True)
class ExplainedRuns:
    """The result of a check of all runs.

    Attributes:
        pairs: How many pairs of a place in a run and a monitor's memory were met.
        over: How many of them were ends of runs.
        unexplained: A run that nothing explains, None where all are explained.
    """

    pairs: int
    over: int
    unexplained: UnexplainedRun | None = None


_Numbers: TypeAlias = tuple[int, int]
"""A pair: the number of a place in a run, and the number of a monitor's memory."""

Met = TypeVar("Met", bound=Hashable)


@dataclass(slots=True)
class _Numbered(Generic[Met]):
    """Numbered items, so that each is compared with others only once."""

    met: list[Met] = field(default_factory=list)
    numbers: dict[Met, int] = field(default_factory=dict)

    def number(self, found: Met) -> int:
        """Return the number of an item, which may be new."""
        number = self.numbers.setdefault(found, len(self.met))
        if number == len(self.met):
            self.met.append(found)
        return number


@dataclass(slots=True)
class _Visit(Generic[State, Memory]):
    """The pairs that were met, each with the pair, the step and the events that led to it."""

    programmed: Programmed[State]
    monitor: Monitor[Memory]
    limit: int
    places: _Numbered[Progress[State]] = field(default_factory=_Numbered)
    memories: _Numbered[Memory] = field(default_factory=_Numbered)
    leaving: dict[int, tuple[tuple[Step, History, int], ...]] = field(default_factory=dict)
    told: dict[tuple[int, History], tuple[int, int]] = field(default_factory=dict)
    reached: dict[_Numbers, tuple[_Numbers, Step, History] | None] = field(default_factory=dict)

    def first(self) -> _Numbers:
        """Return the pair that every run begins with."""
        place = self.places.number(self.programmed.initial())
        pair = (place, self.memories.number(self.monitor.begin()))
        self.reached[pair] = None
        return pair

    def behind(self, level: list[_Numbers]) -> list[_Numbers] | UnexplainedRun:
        """Return the pairs first met one step behind these, or an unexplained run."""
        fresh: list[_Numbers] = []
        for pair in level:
            place, before = pair
            for step, events, target in self._leaving(place):
                memory, explained = self._follow(before, events)
                if explained < len(events):
                    return self._run_to(pair, step, events[: explained + 1])
                if (target, memory) not in self.reached:
                    if len(self.reached) >= self.limit:
                        raise LimitReached(too_many("places", self.limit))
                    self.reached[target, memory] = (pair, step, events)
                    fresh.append((target, memory))
        return fresh

    def over(self) -> int:
        """Return the number of pairs that are ends of runs."""
        ends = {
            number for number, place in enumerate(self.places.met) if self.programmed.is_over(place)
        }
        return sum(place in ends for place, _ in self.reached)

    def _leaving(self, number: int) -> tuple[tuple[Step, History, int], ...]:
        """Return the steps that leave a place, with their events and their target's number."""
        if number not in self.leaving:
            place = self.places.met[number]
            self.leaving[number] = tuple(
                (step, self.programmed.history(place, step, after), self.places.number(after))
                for step, after in self.programmed.steps(place)
            )
        return self.leaving[number]

    def _follow(self, number: int, events: History) -> tuple[int, int]:
        """Return the memory after the events, and the number of explained events."""
        if not events:
            return number, 0
        if (number, events) not in self.told:
            memory = self.memories.met[number]
            explained = 0
            for event in events:
                after = self.monitor.after(memory, event)
                if after is None:
                    break
                memory, explained = after, explained + 1
            self.told[number, events] = self.memories.number(memory), explained
        return self.told[number, events]

    def _run_to(self, pair: _Numbers, step: Step, events: History) -> UnexplainedRun:
        steps: tuple[Step, ...] = (step,)
        history = events
        before = self.reached[pair]
        while before is not None:
            pair, step, events = before
            steps, history = (step, *steps), (*events, *history)
            before = self.reached[pair]
        return UnexplainedRun(steps, history)


def check_runs(
    programmed: Programmed[State], monitor: Monitor[Memory], *, limit: int = LIMIT
) -> ExplainedRuns:
    """Check every history of programs, and of their beginnings, by a monitor.

    Args:
        programmed: The programs, over their model; without any, threads do what they like, and
            histories of any length are checked if what they lead to is finite.
        monitor: What has to explain the histories.
        limit: How many pairs are visited, at the most.

    Raises:
        LimitReached: there are more.
        NeverOver: everything is explained, but no run comes to the end of the programs.
    """
    visit = _Visit(programmed, monitor, limit)
    level = [visit.first()]
    while level:
        found = visit.behind(level)
        if isinstance(found, UnexplainedRun):
            return ExplainedRuns(len(visit.reached), visit.over(), found)
        level = found
    if not visit.over():
        raise NeverOver(why_never_over(programmed, frozenset(visit.places.met)))
    return ExplainedRuns(len(visit.reached), visit.over())
