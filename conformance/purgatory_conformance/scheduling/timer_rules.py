"""The sequential rules of the timer, for explaining the histories of threads that share one.

Each call takes effect as the model of the timing wheel says, but two are not one effect. An add
reads the clock when it is called, and is in the wheel later: the clock may have gone on meanwhile.
An advance to a time sets the clock, and advances later.

A cancel answers whether the task was pending; the step vocabulary leaves that out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from purgatory_model.overlapping.sequential_rules import WHOLE, Effect
from purgatory_model.timer import TimerModel, TimerState
from purgatory_model.timing_wheel import TimingWheel, timing_wheel_model
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, RunOne, Shutdown
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

State: TypeAlias = TimerState[TimingWheel]

_EXPIRES_AT: Final = "expires at "
_ADVANCE: Final = "advance"


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

    def effects(self, state: State, operation: Operation, part: str) -> Iterator[Effect[State]]:
        """The ways in which a part of a call may take effect."""
        match operation:
            case Add(task, delay_ms) if part == WHOLE:
                reason = self.model.refusal(state, delay_ms)
                if reason is not None:
                    yield Effect(state, raised=reason)
                else:
                    yield Effect(state, then=f"{_EXPIRES_AT}{state.now_ms + delay_ms}")
            case Add(task):
                delay_ms = int(part.removeprefix(_EXPIRES_AT)) - state.now_ms
                yield from self._outcomes(state, Add(task, delay_ms))
            case Advance(to_ms) if part == WHOLE:
                yield Effect(_at(state, to_ms), then=_ADVANCE)
            case Advance():
                yield from self._outcomes(state, Advance(state.now_ms))
            case Cancel(task):
                pending = task in state.store.due_ticks
                for effect in self._outcomes(state, operation):
                    yield replace(effect, result=pending)
            case Elapse(to_ms):
                yield Effect(_at(state, to_ms))
            case RunOne() | Shutdown():
                yield from self._outcomes(state, operation)
            case _:
                raise ValueError(f"{operation} is none of a timer on a virtual clock")

    def _outcomes(self, state: State, operation: Operation) -> Iterator[Effect[State]]:
        for outcome, after in self.model.successors(state, operation):
            yield Effect(after, outcome.events, outcome.result, outcome.rejected)


def timer_rules(configuration: TimerConfiguration, profile: TimerProfile) -> TimerRules:
    """The rules of a timing wheel of this configuration and profile."""
    return TimerRules(timing_wheel_model(configuration, profile))


def _at(state: State, to_ms: int) -> State:
    """With the clock at a reading; a virtual clock that is set again does not go back here."""
    return replace(state, now_ms=max(state.now_ms, to_ms))
