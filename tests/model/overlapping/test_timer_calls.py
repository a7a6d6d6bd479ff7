"""Overlapping calls of a timer: one step with nothing in between, and not otherwise."""

from collections.abc import Iterator

import pytest

from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect, sequential, undivided
from purgatory_model.overlapping.timer_calls import timer_part
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerState, timer_model
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, RunOne, Shutdown
from purgatory_spec.outcomes import expired
from purgatory_spec.profiles import Executor, TimerConfiguration, TimerProfile

State = TimerState[PendingTasks]
MODEL = timer_model(TimerConfiguration(), TimerProfile(executor=Executor.STEPPED))
OPERATIONS = (
    Add("a", 3),
    Add("a", 0),
    Add("a", 2**63),
    Cancel("a"),
    Elapse(2),
    Advance(2),
    Advance(5),
    RunOne(),
    Shutdown(),
)


class Parts:
    """The rules of the timer whose calls are divided."""

    def initial(self) -> State:
        return MODEL.initial()

    def effects(self, state: State, operation: Operation, part: Part) -> Iterator[Effect[State]]:
        taken = timer_part(MODEL, state, operation, part)
        if isinstance(taken, Effect):
            yield taken
            return
        for outcome, after in MODEL.successors(state, taken):
            yield Effect(after, outcome.events, outcome.result, outcome.rejected)


def states() -> list[State]:
    """States after some calls, with the clock where it may still go to 2."""
    found = [MODEL.initial()]
    for operation in (Add("a", 3), Add("b", 0), Shutdown(), RunOne()):
        found += [after for state in found[:] for _, after in MODEL.successors(state, operation)]
    return found


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_with_nothing_in_between_the_parts_are_one_step(operation: Operation) -> None:
    """Given a state of a timer and a call: they do what one step of the model does."""
    for state in states():
        in_parts = list(undivided(Parts()).effects(state, operation, WHOLE))
        assert in_parts == list(sequential(MODEL).effects(state, operation, WHOLE))


def test_a_clock_that_goes_on_between_the_parts_of_an_add_makes_it_due() -> None:
    """The task may be handed over as it is armed; an advance does not set the clock back."""
    rules, add = Parts(), Add("a", 3)
    (read,) = rules.effects(MODEL.initial(), add, WHOLE)
    assert read.then is not None
    (moved,) = rules.effects(read.state, Elapse(9), WHOLE)
    armed = list(rules.effects(moved.state, add, read.then))
    assert (expired("a"),) in [each.events for each in armed]
    assert all(each.then is None for each in armed)
    (set_again,) = rules.effects(moved.state, Advance(4), WHOLE)
    assert set_again.state.now_ms == 9
