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
) -> tuple[State, ...]:
    """What the model accepts, from any of the states, each once; empty means divergence.

    A single state, which is what there nearly always is, is not hashed: that would take as long as
    the state is large.
    """
    found = [after for state in states for after in matching(expectations_of(state), outcome)]
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))
