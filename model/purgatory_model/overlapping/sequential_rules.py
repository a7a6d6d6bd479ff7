"""The interface of sequential rules that explain a history.

Rules say what a call does. Most calls are one *effect*: a change of the state, some events, and a
result, all at one instant. A call may also be divided into *parts*, each of which takes effect at
an instant of its own. Every part but the last names the next part.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from purgatory_model.overlapping.parts import Part
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.reasons import Reason

Rule = TypeVar("Rule", bound=Hashable)
"""The state of sequential rules."""


@dataclass(frozen=True, slots=True)
class Effect(Generic[Rule]):
    """An effect of a part of a call.

    Attributes:
        state: The sequential state after it.
        events: What it shows, in this order, in the thread of the call.
        result: What the call returns, as far as this part decides it; None leaves it to the
            other parts, and where none decides it, it is not compared.
        raised: Why the call is rejected, if it is.
        then: The part that follows; None where the call is over.
    """

    state: Rule
    events: tuple[Event, ...] = ()
    result: Value = None
    raised: Reason | None = None
    then: Part | None = None


class Rules(Protocol[Rule]):
    """Sequential rules: what the parts of calls do."""

    def initial(self) -> Rule:
        """Return the state in which every run begins."""

    def effects(self, state: Rule, operation: Operation, part: Part) -> Iterable[Effect[Rule]]:
        """Yield the ways in which a part of a call may take effect; the first one is ``WHOLE``."""


class SequentialModel(Protocol[Rule]):
    """A component's model, which takes one call at a time: see ``transition``."""

    def initial(self) -> Rule:
        """Return the state of a component that was just made."""

    def successors(self, state: Rule, operation: Operation) -> Iterator[tuple[Outcome, Rule]]:
        """Yield every outcome of an operation with the state after it."""


@dataclass(frozen=True, slots=True)
class _Undivided(Generic[Rule]):
    rules: Rules[Rule]

    def initial(self) -> Rule:
        return self.rules.initial()

    def effects(self, state: Rule, operation: Operation, part: Part) -> Iterator[Effect[Rule]]:
        for effect in self.rules.effects(state, operation, part):
            if effect.then is None:
                yield effect
                continue
            for rest in self.effects(effect.state, operation, effect.then):
                result = effect.result if rest.result is None else rest.result
                yield replace(rest, events=effect.events + rest.events, result=result)


def undivided(rules: Rules[Rule]) -> Rules[Rule]:
    """Return rules in which every call is one effect: no step comes between its parts."""
    return _Undivided(rules)


@dataclass(frozen=True, slots=True)
class _Sequential(Generic[Rule]):
    model: SequentialModel[Rule]

    def initial(self) -> Rule:
        return self.model.initial()

    def effects(self, state: Rule, operation: Operation, part: Part) -> Iterator[Effect[Rule]]:
        for outcome, after in self.model.successors(state, operation):
            yield Effect(after, outcome.events, outcome.result, outcome.rejected)


def sequential(model: SequentialModel[Rule]) -> Rules[Rule]:
    """Return the rules of a sequential model: every call is one effect."""
    return _Sequential(model)
