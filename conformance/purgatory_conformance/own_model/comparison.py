"""Two models side by side: what one allows and the other forbids, at one operation.

Both sides carry a set of states: all in which a model may be after what has been seen so far. An
operation is compared by its outcomes alone, never by states, whose form is each model's own choice:
an outcome that leaves a side without a state is forbidden by that side.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic

from purgatory_conformance.own_model.asking import MOST_OUTCOMES, OwnInstance, TooManyOutcomes
from purgatory_conformance.own_model.worlds import State, World
from purgatory_model.step import observables_match, result_matches
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Configuration

MOST_STATES = 64
"""The most states that each side may be in; a course with more states is not followed."""

_MOST_LOOKED_AT = 120
"""The most outcomes looked at of those allowed in one state: the orders of five tasks."""


@dataclass(frozen=True)
class Pair(Generic[State]):
    """The states in which both sides may be."""

    rules: frozenset[State]
    own: frozenset[Hashable]

    @property
    def is_followed(self) -> bool:
        """Decide whether there are few enough states to go on."""
        return len(self.rules) <= MOST_STATES and len(self.own) <= MOST_STATES


@dataclass
class Look(Generic[State]):
    """The outcomes that both models allow for an operation.

    ``both`` are the outcomes that both sides allow, each with the states afterwards; ``own_alone``
    and ``rules_alone`` are allowed by one side only. All are empty where the rules leave too much
    open to be compared.
    """

    both: list[tuple[Outcome, Pair[State]]] = field(default_factory=list)
    own_alone: list[Outcome] = field(default_factory=list)
    rules_alone: list[Outcome] = field(default_factory=list)

    @property
    def was_compared(self) -> bool:
        """Decide whether there was anything to compare."""
        return bool(self.both or self.own_alone or self.rules_alone)

    @property
    def differs(self) -> bool:
        """Decide whether the two sides differ."""
        return bool(self.own_alone or self.rules_alone)


@dataclass(frozen=True)
class Difference:
    """A difference of two models: the steps before, on which they agree, and the operation.

    ``own_alone`` are outcomes that the user's model allows and the rules forbid, ``rules_alone``
    outcomes that the model forbids and the rules allow, ``both`` the common outcomes.
    """

    configuration: Configuration
    steps: tuple[Step, ...]
    operation: Operation
    own_alone: tuple[Outcome, ...]
    rules_alone: tuple[Outcome, ...]
    both: tuple[Outcome, ...]
    own_states: frozenset[Hashable]


@dataclass(frozen=True)
class Comparison(Generic[State]):
    """A model of the rules and one's own, for one configuration."""

    configuration: Configuration
    world: World[State]
    own: OwnInstance

    def start(self) -> Pair[State]:
        """Return the pair of initial states."""
        return Pair(frozenset({self.world.model.initial()}), frozenset({self.own.initial()}))

    def look(self, pair: Pair[State], operation: Operation) -> Look[State]:
        """Compare the outcomes that both sides allow for an operation.

        Raises:
            OwnModelFailure: one's own model failed.
        """
        look: Look[State] = Look()
        if any(self.world.is_crowded(state, operation) for state in pair.rules):
            return look
        try:
            answers = self._own_answers(pair, operation)
        except TooManyOutcomes:
            if self._has_as_many(pair, operation):
                return look
            raise
        for outcome, states in answers:
            after = frozenset[State]().union(
                *(self.world.model.accept(state, operation, outcome) for state in pair.rules)
            )
            if after:
                look.both.append((outcome, Pair(after, states)))
            else:
                look.own_alone.append(outcome)
        seen = [outcome for outcome, _ in answers]
        for outcome in self._rules_outcomes(pair, operation):
            if not any(is_outcome(outcome, other) for other in seen):
                look.rules_alone.append(outcome)
        return look

    def difference(
        self, pair: Pair[State], steps: tuple[Step, ...], operation: Operation, look: Look[State]
    ) -> Difference:
        """Return the difference that a look has found, with the steps before."""
        return Difference(
            self.configuration,
            steps,
            operation,
            tuple(look.own_alone),
            tuple(look.rules_alone),
            tuple(outcome for outcome, _ in look.both),
            pair.own,
        )

    def _own_answers(
        self, pair: Pair[State], operation: Operation
    ) -> list[tuple[Outcome, frozenset[Hashable]]]:
        """Return the distinct outcomes of one's own model, each with all states after it."""
        outcomes: dict[object, Outcome] = {}
        states: dict[object, set[Hashable]] = {}
        for state in pair.own:
            for outcome, after in self.own.step(state, operation):
                key = _key(outcome)
                outcomes.setdefault(key, outcome)
                states.setdefault(key, set()).add(after)
        return [
            (outcome, frozenset(states[_key(outcome)])) for outcome in _ordered(outcomes.values())
        ]

    def _has_as_many(self, pair: Pair[State], operation: Operation) -> bool:
        """Decide whether the rules, too, allow more outcomes than are compared."""
        state = next(iter(pair.rules))
        counted = islice(self.world.model.successors(state, operation), MOST_OUTCOMES + 1)
        return sum(1 for _ in counted) > MOST_OUTCOMES

    def _rules_outcomes(self, pair: Pair[State], operation: Operation) -> list[Outcome]:
        """Return the outcomes that the rules allow, no more than are worth looking at."""
        outcomes: dict[object, Outcome] = {}
        for state in pair.rules:
            for outcome, _ in islice(
                self.world.model.successors(state, operation), _MOST_LOOKED_AT
            ):
                outcomes.setdefault(_key(outcome), outcome)
        return _ordered(outcomes.values())


def _ordered(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes in the same order in every process."""
    found = list(outcomes)
    return sorted(found, key=repr) if len(found) > 1 else found


def _key(outcome: Outcome) -> object:
    """Return a key that tells outcomes apart."""
    observed = tuple(sorted(outcome.observed.items()))
    return outcome.result, type(outcome.result), outcome.rejected, outcome.events, observed


def is_outcome(expected: Outcome, seen: Outcome) -> bool:
    """Decide whether an outcome is an expected one, apart from undeclared observables."""
    return (
        seen.rejected is expected.rejected
        and seen.events == expected.events
        and result_matches(expected.result, seen.result)
        and observables_match(expected.observed, seen.observed)
    )
