"""Labelled transition systems with two faces, made from one statement of what may happen.

Theory of operation. A component's model says for a state and an operation what to *expect*: the
result or the rejection, the events, the state after it. A choice that the rules leave gives several
expectations; events whose order alone is free are a set in one expectation, a *group*. Groups
follow each other in order; inside a group every order is right.

From the expectations follow both faces of the model. ``accept`` takes what was observed and gives
the states in which it leaves the component: it compares sets and never enumerates orders.
``successors`` gives every outcome with its state, for small instances. The two agree by
construction of the expectations and by a tested property.

An expectation also says why: the rules that each of its parts follows from. Whoever judges reads
there which rules a right step has put to the test, and which one a wrong step breaks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import Generic, TypeVar

import msgspec
from immutables import Map

from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.reasons import Reason

State = TypeVar("State")


class TooManyBranches(Exception):
    """The rules leave more ways open than can be followed."""


class InAnyOrder(tuple[str, ...]):
    """An expected result of several names whose order is free, the names in alphabetical order."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> "InAnyOrder":
        """Return these names, in any order."""
        return cls(sorted(names))


class Expectation(msgspec.Struct, Generic[State], frozen=True, eq=False):
    """A possible way of an operation: events, result or rejection, and the state afterwards.

    ``result`` None means that the result is not compared. ``complete`` gives the state after the
    operation for the events in the order in which they happened; ``observe`` gives the
    observables of that state by name.

    ``rules`` are those that a part follows from, the most particular first. The parts are
    "rejected", "result" and each observable; "effect" is what the operation does to the state, and
    "always" what holds of every step.
    """

    groups: tuple[frozenset[Event], ...]
    complete: Callable[[tuple[Event, ...]], State]
    observe: Callable[[State], Mapping[str, Value]]
    result: Value = None
    rejected: Reason | None = None
    rules: Mapping[str, tuple[str, ...]] = Map()

    def rules_of(self, part: str) -> tuple[str, ...]:
        """Return the rules of a part, or of the effect where the part has none of its own."""
        return self.rules.get(part) or self.rules.get("effect") or self.rules["always"]


def in_groups(events: tuple[Event, ...], groups: tuple[frozenset[Event], ...]) -> bool:
    """Decide whether the events are the groups' events, group after group, each in any order."""
    position = 0
    for group in groups:
        block = events[position : position + len(group)]
        if frozenset(block) != group or len(block) != len(group):
            return False
        position += len(group)
    return position == len(events)


def orders(groups: tuple[frozenset[Event], ...]) -> Iterator[tuple[Event, ...]]:
    """Yield every order of events that the groups allow, one at a time; many for large groups."""
    if not groups:
        yield ()
        return
    if len(groups) == 1:
        yield from permutations(sorted(groups[0], key=lambda event: event.task))
        return
    middle = len(groups) // 2  # halves, so that a thousand groups are ten calls deep
    for first in orders(groups[:middle]):
        for second in orders(groups[middle:]):
            yield first + second


def in_order_of(seen: tuple[Event, ...], groups: tuple[frozenset[Event], ...]) -> tuple[Event, ...]:
    """Return the one allowed order in which tasks come as they were first seen."""
    places: dict[str, int] = {}
    for place, event in enumerate(seen):
        places.setdefault(event.task, place)
    return tuple(
        event
        for group in groups
        for event in sorted(group, key=lambda each: (places.get(each.task, len(seen)), each.task))
    )


def accepted(expectations: Iterable[Expectation[State]], outcome: Outcome) -> frozenset[State]:
    """Return the states in which an observed outcome leaves the component; empty: divergence."""
    return frozenset(state for _, state in matching(expectations, outcome))


def matching(
    expectations: Iterable[Expectation[State]], outcome: Outcome
) -> Iterator[tuple[Expectation[State], State]]:
    """Yield the same states, some perhaps twice, each with the expectation that was met."""
    for expectation in expectations:
        if outcome.rejected is not expectation.rejected:
            continue
        if not result_matches(expectation.result, outcome.result):
            continue
        if not in_groups(outcome.events, expectation.groups):
            continue
        state = expectation.complete(outcome.events)
        if observables_match(expectation.observe(state), outcome.observed):
            yield expectation, state


def result_matches(expected: Value, seen: Value) -> bool:
    """Decide whether a result is the expected one, also in its type; None expects nothing."""
    if isinstance(expected, InAnyOrder):
        return type(seen) is tuple and tuple(sorted(seen)) == tuple(expected)
    return expected is None or (seen == expected and type(seen) is type(expected))


def observables_match(expected: Mapping[str, Value], seen: Mapping[str, Value]) -> bool:
    """Decide whether every expected observable was seen with its value, and with its type."""
    for name, value in expected.items():
        if name not in seen:
            return False
        other = seen[name]
        if other != value or type(other) is not type(value):
            return False
    return True


def possible(
    expectations: Iterable[Expectation[State]],
) -> Iterator[tuple[Outcome, State]]:
    """Yield every outcome with the state after it."""
    for expectation in expectations:
        for events in orders(expectation.groups):
            state = expectation.complete(events)
            observed = expectation.observe(state)
            for result in _possible_results(expectation.result):
                yield Outcome(result, expectation.rejected, events, observed), state


def _possible_results(expected: Value) -> Iterator[Value]:
    """Yield a result, in each of its orders where its order is free."""
    if isinstance(expected, InAnyOrder):
        yield from dict.fromkeys(permutations(expected))
    else:
        yield expected
