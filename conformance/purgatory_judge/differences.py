"""The expectation that is most like what was seen, and where the two differ, in words."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from purgatory_model.step import Expectation, in_groups, observables_match, result_matches
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.reasons import Reason

State = TypeVar("State")


def nearest_to(outcome: Outcome, expectations: Iterable[Expectation[State]]) -> Expectation[State]:
    """Return the expectation that is most like an outcome."""
    return max(expectations, key=lambda expectation: _likeness(expectation, outcome))


def followed(expectation: Expectation[State], outcome: Outcome) -> tuple[tuple[Event, ...], State]:
    """Return the expected events, in the observed order if that is allowed, and the next state."""
    if in_groups(outcome.events, expectation.groups):
        events = outcome.events
    else:
        groups = (sorted(group, key=lambda event: event.task) for group in expectation.groups)
        events = tuple(event for group in groups for event in group)
    return events, expectation.complete(events)


def right_outcome(expectation: Expectation[State], outcome: Outcome) -> Outcome:
    """Return the outcome of an expectation, its events in the observed order if allowed."""
    events, after = followed(expectation, outcome)
    return Outcome(
        result=expectation.result,
        rejected=expectation.rejected,
        events=events,
        observed=expectation.observe(after),
    )


def _likeness(
    expectation: Expectation[State], outcome: Outcome
) -> tuple[bool, bool, int, int, bool, int]:
    events, after = followed(expectation, outcome)
    wanted, seen = Counter(events), Counter(outcome.events)
    alike = 0
    for ours, theirs in zip(events, outcome.events, strict=False):
        if ours != theirs:
            break
        alike += 1
    shown = expectation.observe(after).items()
    return (
        expectation.rejected is outcome.rejected,
        in_groups(outcome.events, expectation.groups),
        -(wanted - seen).total() - (seen - wanted).total(),
        alike,
        result_matches(expectation.result, outcome.result),
        sum(observables_match({name: value}, outcome.observed) for name, value in shown),
    )


def reason_words(reason: Reason | None) -> str:
    """Return whether an operation was accepted, or else the reason, in words."""
    return "accepted" if reason is None else f"rejected: {reason.value}"


def rejection_words(expected: Reason | None, outcome: Outcome) -> tuple[str, str]:
    """Return the expected rejection, or none, and the seen one with its detail."""
    seen = reason_words(outcome.rejected)
    return reason_words(expected), f"{seen} ({outcome.detail})" if outcome.detail else seen


def result_words(expected: Value, outcome: Outcome) -> tuple[str, str]:
    """Return the expected result, and the one that was seen."""
    return f"result {_value_words(expected)}", f"result {_value_words(outcome.result)}"


def observable_words(name: str, expected: Value, outcome: Outcome) -> tuple[str, str]:
    """Return the expected value of an observable, and the one that was seen."""
    seen = f"{name} = nothing"
    if name in outcome.observed:
        value = outcome.observed[name]
        is_alike = value == expected
        seen = (
            f"{name} of another type: {value!r}" if is_alike else f"{name} = {_value_words(value)}"
        )
    return f"{name} = {_value_words(expected)}", seen


def events_words(events: Iterable[Event]) -> str:
    """Return events in their order."""
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
