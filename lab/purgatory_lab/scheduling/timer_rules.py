"""The sequential rules of the timer, for explaining the histories of threads that share one.

Each call takes effect as ``overlapping.timer_calls`` says of the timing wheel. A cancel also
answers whether the task was pending; the step vocabulary leaves that out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.overlapping.timer_calls import timer_part
from purgatory_model.timer import TimerModel, TimerState
from purgatory_model.timing_wheel import TimingWheel, timing_wheel_model
from purgatory_spec.operations import Cancel, Operation
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
        """A timer that was just made."""
        return self.model.initial()

    def effects(self, state: State, operation: Operation, part: Part) -> Iterator[Effect[State]]:
        """The ways in which a part of a call may take effect."""
        taken = timer_part(self.model, state, operation, part)
        if isinstance(taken, Effect):
            yield taken
            return
        pending = operation.task in state.store.due_ticks if isinstance(operation, Cancel) else None
        for outcome, after in self.model.successors(state, taken):
            result = outcome.result if pending is None else pending
            yield Effect(after, outcome.events, result, outcome.rejected)


def timer_rules(configuration: TimerConfiguration, profile: TimerProfile) -> TimerRules:
    """The rules of a timing wheel of this configuration and profile."""
    return TimerRules(timing_wheel_model(configuration, profile))
