"""The states in which a step may leave a subject that may be in several."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from purgatory_model.step import Expectation, matching
from purgatory_spec.outcomes import Outcome

State = TypeVar("State", bound=Hashable)


def reached(
    states: Iterable[State],
    expectations_of: Callable[[State], Iterable[Expectation[State]]],
    outcome: Outcome,
) -> tuple[tuple[Expectation[State], State], ...]:
    """Return the states that the model accepts from any state, each with its expectation.

    Empty means divergence. A single state, which is what there nearly always is, is not hashed:
    that would take as long as the state is large.
    """
    found = [pair for state in states for pair in matching(expectations_of(state), outcome)]
    if len(found) < 2:
        return tuple(found)
    ways = {after: way for way, after in reversed(found)}
    return tuple((ways[after], after) for after in dict.fromkeys(after for _, after in found))
