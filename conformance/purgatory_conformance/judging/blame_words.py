"""What was expected and seen of a step, in the words of every component's blame."""

from collections.abc import Iterable

from purgatory_spec.outcomes import Event
from purgatory_spec.reasons import Reason


def rejection_words(reason: Reason | None) -> str:
    """Whether an operation was accepted, and else why not."""
    return "accepted" if reason is None else f"rejected: {reason.value}"


def events_words(events: Iterable[Event]) -> str:
    """Events in their order, for example ``a tried, a completed``."""
    words = [
        f"{e.task} {e.kind.value}" + (f" ({e.reason.value})" if e.reason else "") for e in events
    ]
    return ", ".join(words) if words else "no event"


def value_words(value: object) -> str:
    """A result or an observable as it stands in JSON, a list of names without quotation marks."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)
