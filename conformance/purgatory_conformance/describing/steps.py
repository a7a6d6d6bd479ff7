"""Operations, outcomes, configurations and profiles in readable words.

The words of an operation stand on its type, see ``purgatory_spec.operations.Worded``; here its
fields are put into them.
"""

from purgatory_conformance.describing.words import describe_choices, describe_events, describe_task
from purgatory_conformance.describing.words import joined as listed
from purgatory_model.channel_muting import SIZE_BYTES
from purgatory_spec import profiles
from purgatory_spec.choices import Choice
from purgatory_spec.operations import Announce, Operation, Script, Worded
from purgatory_spec.outcomes import Outcome

_CHOICES_TO_FOLLOW = {
    profiles.Component.TIMER: (
        *("structure", "rounding", "same_tick_order", "executor", "clock", "negative_delay"),
    ),
    profiles.Component.PURGATORY: (
        *("accounting", "throwing_try", "executor", "structure", "rounding", "same_tick_order"),
        *("purge_due", "first_try", "check_order", "cancel_result"),
    ),
    profiles.Component.MEMORY_POOL: ("release_validation", "zero_request"),
    profiles.Component.CHANNEL_MUTING: ("recovery", "ask_again", "end_while_waiting"),
}
"""The choices that a reader needs in order to follow a case, the most important first."""


def describe_operation(operation: Worded) -> str:
    """Return an operation as a person would say it, for example ``add t1, delay 25 ms``."""
    if isinstance(operation, Announce):
        return f"{describe_task(operation.channel)} {_announced(operation)}"
    values = {name: _field(name, getattr(operation, name)) for name in operation.__struct_fields__}
    return operation.says.format_map(values)


def _announced(operation: Announce) -> str:
    """Return the part of a request that is sent in words: none, some or all of its body."""
    size_bytes, body_bytes = operation.size_bytes, operation.sent_bytes - SIZE_BYTES
    if body_bytes == size_bytes:
        return f"sends a request of {_bytes(size_bytes)}"
    if body_bytes < 0:
        return f"sends {operation.sent_bytes} of the {SIZE_BYTES} bytes of a size"
    begun = f" and sends {body_bytes} of them" if body_bytes else ""
    return f"announces {_bytes(size_bytes)}{begun}"


def _field(name: str, value: object) -> str:
    """Return the value of a field in words: a name, a number, several keys, a script."""
    if isinstance(value, Worded):
        return describe_operation(value)
    if isinstance(value, Script):
        return _script(value)
    match value:
        case str():
            return describe_task(value)
        case bool() if name == "refuse":
            return ", the executor refuses" if value else ""
        case bool():
            return f", made to {name}" if value else ""
        case int() if name.endswith("_bytes"):
            return _bytes(value)
        case Choice():
            return value.says
        case tuple() if name == "script":
            return f"; when it runs it {_actions(value)}" if value else ""
        case tuple():
            return listed([describe_task(str(each)) for each in value]) if value else "no key"
        case _:
            return str(value)


def _actions(actions: tuple[Worded, ...]) -> str:
    return listed([describe_operation(action) for action in actions])


def _script(script: Script) -> str:
    words: list[str] = []
    if script.tries:
        words.append(f"tries: {', '.join(answer.value for answer in script.tries)}")
    called = {f"try {number}": actions for number, actions in enumerate(script.on_try, start=1)}
    called |= {"on_complete": script.on_complete, "on_expiration": script.on_expiration}
    words += [f"{name} {_actions(actions)}" for name, actions in called.items() if actions]
    return "".join(f"; {each}" for each in words)


def describe_outcome(operation: Operation, outcome: Outcome) -> str:
    """Return an outcome in words, its observables aside, for example ``popped, t1 expired``."""
    result, (nothing, something) = outcome.result, operation.answers
    if result is None:
        return describe_events(outcome, silence=operation.silence)
    if not something or isinstance(result, bool) == ("{}" in something):
        return describe_events(outcome, f"result {result}")
    told = listed([*map(describe_task, result)]) if isinstance(result, tuple) and result else result
    if not result:  # that nothing happened is said by the result
        return describe_events(outcome, nothing.format(told), silence="")
    silence = "no event" if operation.silence == "no event" else ""
    return describe_events(outcome, something.format(told), silence=silence)


def describe_configuration(configuration: profiles.Configuration) -> str:
    """Return the arguments in words that the instance of a case was made with."""
    match configuration:
        case profiles.TimerConfiguration(tick_ms, wheel_size, start_ms):
            return f"tick {tick_ms} ms, wheel size {wheel_size}, clock at {start_ms}"
        case profiles.PurgatoryConfiguration(purge_interval, time_outs):
            timer = describe_configuration(configuration.timer)
            none = "" if time_outs else ", no time-outs"
            return f"purge interval {purge_interval}{none}, {timer}"
        case profiles.MemoryPoolConfiguration(unbounded=True):
            return "an unbounded pool"
        case profiles.MemoryPoolConfiguration(size_bytes, largest_bytes, strict):
            admission = "strict" if strict else "non-strict"
            return f"{_bytes(size_bytes)}, largest buffer {largest_bytes}, {admission}"
        case profiles.ChannelMutingConfiguration(
            limit_bytes, largest_bytes, strict, tls, idle, receive
        ):
            words = f"{_bytes(limit_bytes)}, largest request {largest_bytes}, "
            words += f"{'strict' if strict else 'non-strict'}, {'TLS' if tls else 'plain'}"
            limits = {"idle": idle, "receive": receive}
            return words + "".join(f", {of} limit {ms} ms" for of, ms in limits.items() if ms)


def describe_profile(profile: profiles.Profile) -> str:
    """Return the declared choices in words that a reader needs in order to follow a case."""
    return describe_choices(profile, _CHOICES_TO_FOLLOW[profiles.component_of(profile)])


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
