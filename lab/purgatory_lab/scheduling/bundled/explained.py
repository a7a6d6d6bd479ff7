"""Explanation of a run by sequential rules: the results that its threads have seen.

A history of the timer is explained as a whole, by the model of the timing wheel, down to the
counts in the end. A history of the purgatory is explained operation by operation: what happens to
one does not wait for what happens to another.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.bundled.table import BUNDLED
from purgatory_lab.scheduling.bundled.timer.under_test import TICK_MS, WHEEL_SIZE
from purgatory_lab.scheduling.bundled.timer.world import TimerWorld
from purgatory_lab.scheduling.scenario import World
from purgatory_lab.scheduling.yield_points import Table
from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.interleaving import History
from purgatory_model.overlapping.linearizability import Explainer, explain
from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.projection import Projection
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.overlapping.timer_calls import timer_part
from purgatory_model.timer import TimerModel, TimerState, timing_wheel_model
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.operations import Cancel, Operation, Watch
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

State: TypeAlias = TimerState[TimingWheel]


@dataclass(frozen=True, slots=True)
class TimerRules:
    """The rules of one timer.

    Attributes:
        model: Of the timing wheel.
    """

    model: TimerModel[TimingWheel]

    def initial(self) -> State:
        """Return a timer that was just made."""
        return self.model.initial()

    def effects(self, state: State, operation: Operation, part: Part) -> Iterator[Effect[State]]:
        """Yield the ways in which a part of a call may take effect."""
        taken = timer_part(self.model, state, operation, part)
        if isinstance(taken, Effect):
            yield taken
            return
        pending = operation.task in state.store.due_ticks if isinstance(operation, Cancel) else None
        for outcome, after in self.model.successors(state, taken):
            result = outcome.result if pending is None else pending
            yield Effect(after, outcome.events, result, outcome.rejected)


def timer_rules(configuration: TimerConfiguration, profile: TimerProfile) -> TimerRules:
    """Return the rules of a timing wheel of this configuration and profile."""
    return TimerRules(timing_wheel_model(configuration, profile))


WHOLE_PASSES: Final[Table] = replace(
    BUNDLED, sizes=tuple(size for size in BUNDLED.sizes if "timer" not in size.module)
)
"""The table for explaining the timer: a pass within one hold of the lock is one effect."""


class ExplainedTimer:
    """Explains histories of the timer; each is looked at once.

    Attributes:
        histories: How many different ones were explained.
    """

    def __init__(self) -> None:
        configuration = TimerConfiguration(TICK_MS, WHEEL_SIZE)
        self._rules: TimerRules = timer_rules(configuration, PROFILE)
        self._ends: dict[History, list[Mapping[str, Value]]] = {}

    @property
    def histories(self) -> int:
        """Return the number of different histories."""
        return len(self._ends)

    def __call__(self, world: World) -> list[str]:
        """Return the problems of a run that no order of calls explains."""
        assert isinstance(world, TimerWorld)
        history = tuple(world.history.events)
        if history not in self._ends:
            self._ends[history] = self._ends_of(history)
        ends = self._ends[history]
        if not ends:
            return ["no order of the calls explains what they returned"]
        if world.observed() not in ends:
            return [f"no order of the calls leaves {world.observed()}"]
        return []

    def _ends_of(self, history: History) -> list[Mapping[str, Value]]:
        """Return the counts that the explanations of a history leave; empty where there is none."""
        explainer = Explainer(self._rules)
        moments = explainer.begin()
        for event in history:
            moments = explainer.after(moments, event) or frozenset()
        return [dict(self._rules.model.observe(moment.state)) for moment in moments]


class ExplainedOperations:
    """Explains histories of the purgatory, each operation for itself."""

    def __init__(self) -> None:
        self._explained: dict[tuple[str, History], bool] = {}

    @property
    def histories(self) -> int:
        """Return the number of different histories of an operation."""
        return len(self._explained)

    def __call__(self, world: World) -> list[str]:
        """Return the problems of a run that no order of calls explains."""
        assert isinstance(world, PurgatoryWorld)
        history = tuple(world.history.events)
        return [
            f"no order of the calls explains what happened to {name}"
            for name in world.operations
            if not self._is_explained(name, _projected(name, history, world), world)
        ]

    def _is_explained(self, name: str, history: History, world: PurgatoryWorld) -> bool:
        if (name, history) not in self._explained:
            rules = OverlappingCalls(name, world.purgatory._accounting.time_out_first)
            self._explained[name, history] = explain(history, rules).is_complete
        return self._explained[name, history]


def _projected(name: str, history: History, world: PurgatoryWorld) -> History:
    keys = {
        key
        for operation in world.history.called()
        if isinstance(operation, Watch) and operation.operation == name
        for key in operation.keys
    }
    return Projection(name, frozenset(keys)).of(history)
