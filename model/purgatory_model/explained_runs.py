"""Whether every history of a concurrent model is explained, without listing the histories.

A monitor follows the history of a run. What may still come depends on where the run is and on what
the monitor remembers, and on nothing else; so it is enough to visit every pair of the two, and a
few thousand pairs stand for millions of histories. The visit is breadth first: the run to the
first event that nothing explains is a shortest one.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeAlias

from purgatory_model.histories import LIMIT, LimitReached, NeverOver, too_many, why_never_over
from purgatory_model.interleaving import History, HistoryEvent, State, Step
from purgatory_model.linearizability import Memory, Monitor
from purgatory_model.programs import Programmed, Progress


@dataclass(frozen=True, slots=True)
class UnexplainedRun:
    """A shortest run to an event that nothing explains: its steps, and the history up to there."""

    steps: tuple[Step, ...]
    history: History


@dataclass(frozen=True, slots=True)
class ExplainedRuns:
    """What came of a check.

    Attributes:
        pairs: How many pairs of a place in a run and a monitor's memory were met.
        over: How many of them were ends of runs.
        unexplained: A run that nothing explains, None where all are explained.
    """

    pairs: int
    over: int
    unexplained: UnexplainedRun | None = None


_Pair: TypeAlias = tuple[Progress[State], Memory]


@dataclass(slots=True)
class _Visit(Generic[State, Memory]):
    """The pairs that were met, each with the pair, the step and the events that led to it."""

    programmed: Programmed[State]
    monitor: Monitor[Memory]
    limit: int
    reached: dict[_Pair[State, Memory], tuple[_Pair[State, Memory], Step, History] | None]
    told: dict[tuple[Memory, HistoryEvent], Memory | None] = field(default_factory=dict)

    def behind(
        self, level: list[_Pair[State, Memory]]
    ) -> list[_Pair[State, Memory]] | UnexplainedRun:
        """The pairs first met one step behind these, or a run that nothing explains."""
        fresh: list[_Pair[State, Memory]] = []
        for pair in level:
            progress, _ = pair
            for step, after in self.programmed.steps(progress):
                events = self.programmed.history(progress, step, after)
                memory, explained = self._follow(pair[1], events)
                if explained < len(events):
                    return self._run_to(pair, step, events[: explained + 1])
                if (after, memory) not in self.reached:
                    if len(self.reached) >= self.limit:
                        raise LimitReached(too_many("places", self.limit))
                    self.reached[after, memory] = (pair, step, events)
                    fresh.append((after, memory))
        return fresh

    def over(self) -> int:
        """How many pairs are ends of runs."""
        return sum(self.programmed.is_over(progress) for progress, _ in self.reached)

    def _follow(self, memory: Memory, events: History) -> tuple[Memory, int]:
        """The memory after the events, and how many of them are explained."""
        for number, event in enumerate(events):
            if (memory, event) not in self.told:
                self.told[memory, event] = self.monitor.after(memory, event)
            after = self.told[memory, event]
            if after is None:
                return memory, number
            memory = after
        return memory, len(events)

    def _run_to(self, pair: _Pair[State, Memory], step: Step, events: History) -> UnexplainedRun:
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
        programmed: The programs, over their model.
        monitor: What has to explain the histories.
        limit: How many pairs are visited, at the most.

    Raises:
        LimitReached: there are more.
        NeverOver: everything is explained, but no run comes to the end of the programs.
    """
    first = (programmed.initial(), monitor.begin())
    visit = _Visit(programmed, monitor, limit, {first: None})
    level = [first]
    while level:
        found = visit.behind(level)
        if isinstance(found, UnexplainedRun):
            return ExplainedRuns(len(visit.reached), visit.over(), found)
        level = found
    if not visit.over():
        met = frozenset(progress for progress, _ in visit.reached)
        raise NeverOver(why_never_over(programmed, met))
    return ExplainedRuns(len(visit.reached), visit.over())
