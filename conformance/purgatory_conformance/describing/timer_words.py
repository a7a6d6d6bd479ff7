"""What happens to a timer, in readable words."""

from purgatory_conformance.describing.timer_states import describe_timer_state
from purgatory_conformance.describing.words import (
    ComponentWords,
    describe_choices,
    describe_events,
    describe_task,
    joined,
)
from purgatory_spec.operations import (
    Action,
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    CancelInside,
    Elapse,
    Operation,
    RunOne,
    Shutdown,
    Throw,
    Wait,
    operation_name,
)
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import TimerConfiguration, TimerProfile


def describe_timer_operation(operation: Operation) -> str:
    """An operation as a person would say it, for example ``add t1, delay 25 ms``."""
    match operation:
        case Add(task, delay_ms, script):
            words = f"add {describe_task(task)}, delay {delay_ms} ms"
            if script:
                words += f"; when it runs it {joined([_action(action) for action in script])}"
            return words
        case Cancel(task):
            return f"cancel {describe_task(task)}"
        case Elapse(to_ms):
            return f"let the clock reach {to_ms}"
        case Advance(to_ms):
            return f"advance to {to_ms}"
        case RunOne():
            return "run one task"
        case Wait(for_ms):
            return f"wait {for_ms} ms"
        case Shutdown():
            return "shut down"
        case _:
            return operation_name(operation)


def _action(action: Action) -> str:
    match action:
        case Throw():
            return "throws"
        case AddInside(task, delay_ms):
            return f"adds {describe_task(task)}, delay {delay_ms} ms"
        case CancelInside(task):
            return f"cancels {describe_task(task)}"
        case AdvanceInside():
            return "advances the timer"


def describe_timer_outcome(outcome: Outcome) -> str:
    """What came of an operation, its observables aside, for example ``popped, t1 expired``."""
    if outcome.result is None:
        return describe_events(outcome)
    if isinstance(outcome.result, bool):
        if not outcome.result:
            return describe_events(outcome, "nothing popped", silence="")
        return describe_events(outcome, "popped")
    return describe_events(outcome, f"result {outcome.result}")


def describe_timer_configuration(configuration: TimerConfiguration) -> str:
    """What the timer of a case was made with."""
    return (
        f"tick {configuration.tick_ms} ms, wheel size {configuration.wheel_size}, "
        f"clock at {configuration.start_ms}"
    )


def describe_timer_profile(profile: TimerProfile) -> str:
    """The declared choices that a reader needs in order to follow a case."""
    names = ("structure", "rounding", "same_tick_order", "executor", "clock", "negative_delay")
    return describe_choices(profile, names)


WORDS = ComponentWords(
    describe_timer_operation,
    lambda _, outcome: describe_timer_outcome(outcome),
    describe_timer_configuration,
    describe_timer_profile,
    describe_timer_state,
)
"""The words of this component."""
