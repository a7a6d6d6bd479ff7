"""The two faces of a model are one relation: accept takes exactly what successors gives."""

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from purgatory_model.step import observables_match
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome, Value, tried
from purgatory_spec.reasons import Reason

State = TypeVar("State")
MOST = 300
"""The most outcomes that are enumerated."""


class Model(Protocol[State]):
    """The face that is compared with an enumeration."""

    def accept(self, state: State, operation: Operation, observed: Outcome) -> Collection[State]:
        """The states in which an observed outcome leaves the model."""


def agree(
    model: Model[State], state: State, operation: Operation, pairs: Sequence[tuple[Outcome, State]]
) -> bool:
    """Decide whether accept gives the enumerated states, for some outcomes and those near them."""
    # Where there are more than ``MOST`` outcomes, it may give states that are not enumerated.
    for outcome, _ in pairs[:3]:
        for candidate in (outcome, *outcomes_near(outcome)):
            enumerated = {after for other, after in pairs if same(candidate, other)}
            accepted = set(model.accept(state, operation, candidate))
            if not enumerated <= accepted or (len(pairs) < MOST and accepted != enumerated):
                return False
    return True


def same(seen: Outcome, predicted: Outcome) -> bool:
    """Decide whether an outcome shows an observation; a result of None is not compared."""
    result = type(seen.result), seen.result
    return (
        seen.rejected is predicted.rejected
        and (predicted.result is None or result == (type(predicted.result), predicted.result))
        and seen.events == predicted.events
        and observables_match(predicted.observed, seen.observed)
    )


def outcomes_near(outcome: Outcome) -> Iterator[Outcome]:
    """Outcomes that differ from the given one in a single respect."""
    change = msgspec.structs.replace
    is_bool = isinstance(outcome.result, bool)
    yield change(outcome, result=not outcome.result if is_bool else ("zz",))
    yield change(outcome, result=None)
    yield change(outcome, rejected=Reason.INTERNAL)
    yield change(outcome, rejected=None)
    for events in ((*outcome.events, tried("zz")), outcome.events[1:], outcome.events[::-1]):
        yield change(outcome, events=events)
    for name, value in outcome.observed.items():
        yield change(outcome, observed={**outcome.observed, name: _another(value)})


def _another(value: Value) -> Value:
    if isinstance(value, tuple):
        return (*value, "zz")
    return not value if isinstance(value, bool) else (value or 0) + 1
