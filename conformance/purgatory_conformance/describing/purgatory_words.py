"""What happens to a purgatory, in readable words."""

from purgatory_conformance.describing.purgatory_states import describe_purgatory_state
from purgatory_conformance.describing.words import (
    ComponentWords,
    describe_choices,
    describe_events,
    describe_task,
    joined,
)
from purgatory_spec.operations import (
    Advance,
    CallbackAction,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Elapse,
    Force,
    ForceInside,
    Meanwhile,
    Operation,
    RunOne,
    Satisfy,
    SatisfyInside,
    Script,
    Shutdown,
    Throw,
    Watch,
    WatchInside,
    operation_name,
)
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile


def describe_purgatory_operation(operation: Operation) -> str:
    """An operation as a person would say it, for example ``watch o1 under a and b, 5 ms``."""
    match operation:
        case Watch(name, keys, delay_ms, script):
            return _watch(name, keys, delay_ms) + _script(script)
        case Check(key):
            return f"check {describe_task(key)}"
        case CancelForKey(key):
            return f"cancel for {describe_task(key)}"
        case Force(name):
            return f"force {describe_task(name)}"
        case Satisfy(name):
            return f"satisfy {describe_task(name)}"
        case Elapse(to_ms):
            return f"let the clock reach {to_ms}"
        case Advance(to_ms):
            return f"advance to {to_ms}"
        case RunOne():
            return "run one expiry"
        case Shutdown():
            return "shut down"
        case _:
            return operation_name(operation)


def _watch(name: str, keys: tuple[str, ...], delay_ms: int, verb: str = "watch") -> str:
    under = joined([describe_task(key) for key in keys]) if keys else "no key"
    return f"{verb} {describe_task(name)} under {under}, time-out {delay_ms} ms"


def _script(script: Script) -> str:
    words: list[str] = []
    if script.tries:
        words.append(f"tries: {', '.join(answer.value for answer in script.tries)}")
    for number, actions in enumerate(script.on_try, start=1):
        if actions:
            words.append(f"try {number} {joined([_action(action) for action in actions])}")
    for name, actions in (
        ("on_complete", script.on_complete),
        ("on_expiration", script.on_expiration),
    ):
        if actions:
            words.append(f"{name} {joined([_action(action) for action in actions])}")
    return f"; {'; '.join(words)}" if words else ""


def _action(action: CallbackAction) -> str:
    match action:
        case Throw():
            return "throws"
        case WatchInside(name, keys, delay_ms):
            return _watch(name, keys, delay_ms, "watches")
        case CheckInside(key):
            return f"checks {describe_task(key)}"
        case CancelForKeyInside(key):
            return f"cancels for {describe_task(key)}"
        case ForceInside(name):
            return f"forces {describe_task(name)}"
        case SatisfyInside(name):
            return f"satisfies {describe_task(name)}"
        case Meanwhile(call):
            return f"stands still while another thread {_action(call)}"


def describe_purgatory_outcome(operation: Operation, outcome: Outcome) -> str:
    """What came of an operation, its observables aside, for example ``waits, o1 tried``."""
    return describe_events(outcome, _result(operation, outcome), silence="no event")


def _result(operation: Operation, outcome: Outcome) -> str:
    match operation, outcome.result:
        case _, None:
            return ""
        case Watch(), bool() as done:
            return "completed by this call" if done else "not completed by this call"
        case Force(), bool() as done:
            return "completed by this call" if done else "was completed already"
        case Check(), int() as count:
            return f"{count} completed"
        case CancelForKey(), tuple() as names:
            return f"cancelled {joined([*map(describe_task, names)])}" if names else "nothing there"
        case _, result:
            return f"result {result}"


def describe_purgatory_configuration(configuration: PurgatoryConfiguration) -> str:
    """What the purgatory of a case was made with."""
    time_outs = "" if configuration.time_outs else ", no time-outs"
    return (
        f"purge interval {configuration.purge_interval}{time_outs}, "
        f"tick {configuration.tick_ms} ms, wheel size {configuration.wheel_size}, "
        f"clock at {configuration.start_ms}"
    )


def describe_purgatory_profile(profile: PurgatoryProfile) -> str:
    """The declared choices that a reader needs in order to follow a case."""
    names = (
        "accounting",
        "throwing_try",
        "executor",
        "structure",
        "rounding",
        "same_tick_order",
        "purge_due",
        "first_try",
        "check_order",
        "cancel_result",
    )
    return describe_choices(profile, names)


WORDS = ComponentWords(
    describe_purgatory_operation,
    describe_purgatory_outcome,
    describe_purgatory_configuration,
    describe_purgatory_profile,
    describe_purgatory_state,
)
"""The words of this component."""
