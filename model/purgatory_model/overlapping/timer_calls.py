"""Overlapping calls of a timer: each as the timer's model says, but two at two instants.

An add reads the clock when it is called, and the task is armed later: the clock may have gone on
meanwhile, so that the task is due already when it is armed. An advance to a time sets the clock,
and expires what is due later. With nothing in between, both do what one step does.
"""

from purgatory_model.overlapping.parts import WHOLE, Part, Stage
from purgatory_model.overlapping.sequential_rules import Effect
from purgatory_model.pending_tasks import AnyStore
from purgatory_model.replacing import replace
from purgatory_model.timer import TimerModel, TimerState
from purgatory_spec.operations import Add, Advance, Elapse, Operation


def timer_part(
    model: TimerModel[AnyStore], state: TimerState[AnyStore], operation: Operation, part: Part
) -> Effect[TimerState[AnyStore]] | Operation:
    """Return the effect of a part of a call, or the step that the model takes in this part.

    A clock that two threads set does not go back here.
    """
    match operation:
        case Add(delay_ms=delay_ms) if part == WHOLE:
            reason = model.refusal(state, delay_ms)
            if reason is not None:
                return Effect(state, raised=reason)
            return Effect(state, then=Part(Stage.ARM_EXPIRING_AT, state.now_ms + delay_ms))
        case Add(task, _, script):
            assert part.number is not None
            return Add(task, part.number - state.now_ms, script)
        case Advance() if part.stage is Stage.MOVE_CLOCK_ON:
            return Advance(state.now_ms)
        case Advance(to_ms) | Elapse(to_ms):
            then = Part(Stage.MOVE_CLOCK_ON) if isinstance(operation, Advance) else None
            return Effect(replace(state, now_ms=max(state.now_ms, to_ms)), then=then)
        case _:
            return operation
