"""What was expected and what was seen instead, in words."""

from collections.abc import Iterable

from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.reasons import Reason


def rejection_words(expected: Reason | None, outcome: Outcome) -> tuple[str, str]:
    """The expected rejection, or none, and the one that was seen, with what was said of it."""
    words = [
        "accepted" if r is None else f"rejected: {r.value}" for r in (expected, outcome.rejected)
    ]
    return words[0], f"{words[1]} ({outcome.detail})" if outcome.detail else words[1]


def result_words(expected: Value, outcome: Outcome) -> tuple[str, str]:
    """The expected result, and the one that was seen."""
    return f"result {_value_words(expected)}", f"result {_value_words(outcome.result)}"


def observable_words(name: str, expected: Value, outcome: Outcome) -> tuple[str, str]:
    """The expected value of an observable, and the one that was seen."""
    seen = f"{name} = nothing"
    if name in outcome.observed:
        value = outcome.observed[name]
        is_alike = value == expected
        seen = (
            f"{name} of another type: {value!r}" if is_alike else f"{name} = {_value_words(value)}"
        )
    return f"{name} = {_value_words(expected)}", seen


def events_words(events: Iterable[Event]) -> str:
    """Events in their order."""
    words = [
        f"{e.task} {e.kind.value}" + (f" ({e.reason.value})" if e.reason else "") for e in events
    ]
    return ", ".join(words) if words else "no event"


def _value_words(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)
