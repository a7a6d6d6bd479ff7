"""Symmetry by renaming: states that differ in names alone are visited once.

Where names are interchangeable (two tasks with the same delays, two threads that run the same
program), a state and its renamings have the same future up to renaming. A *representative* is a
function that gives the same state for all renamings of one; ``explore`` then visits representatives
alone. Whether a function is such a representative is a claim like any other, and ``asymmetry``
checks it: a renaming that is no symmetry hides states, and with them what is wrong in them.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Protocol, Self, TypeVar

from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.state_graph import complete_graph

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label")


class _Ordered(Protocol):
    def __lt__(self, other: Self, /) -> bool: ...


_Key = TypeVar("_Key", bound=_Ordered)


def least_renaming(
    renamings: Iterable[Callable[[State], State]], order: Callable[[State], _Key]
) -> Callable[[State], State]:
    """The representative that is the least of a state's renamings.

    Args:
        renamings: Every renaming, that which changes nothing included.
        order: What states are ordered by; it must tell any two different states apart.
    """
    every = tuple(renamings)

    def representative(state: State) -> State:
        return min((rename(state) for rename in every), key=order)

    return representative


def asymmetry(
    initial: State,
    steps: Callable[[State], Iterable[tuple[Label, State]]],
    broken: Callable[[State, Label, State], str | None],
    representative: Callable[[State], State],
    *,
    limit: int = 1_000_000,
) -> Counterexample[State, Label] | None:
    """Why a function may not stand in for a claim's states; None where it may.

    In every state: it must be represented by a state that represents itself, and what can be
    reached from both by one step must be the same, up to representatives, with the same steps
    breaking the claim. The search visits every state of the instance, so it is for small ones.

    Raises:
        TooManyStates: there are more than ``limit`` states.
    """

    def futures(state: State) -> Counter[tuple[State, str | None]]:
        return Counter((representative(t), broken(state, label, t)) for label, t in steps(state))

    def numbered(state: State) -> Iterator[tuple[int, State]]:
        return ((place, target) for place, (_, target) in enumerate(steps(state)))

    graph = complete_graph(initial, numbered, limit=limit)
    for number, state in enumerate(graph.states):
        least = representative(state)
        if representative(least) != least:
            why = "its representative has another representative"
        elif futures(least) != futures(state):
            why = "its representative has other steps"
        else:
            continue
        return Counterexample(initial, _named(initial, graph.path_to(number), steps), why)
    return None


def _named(
    state: State,
    path: tuple[tuple[int, State], ...],
    steps: Callable[[State], Iterable[tuple[Label, State]]],
) -> tuple[tuple[Label, State], ...]:
    """A path whose labels are places among the steps, with the labels themselves."""
    named: list[tuple[Label, State]] = []
    for place, target in path:
        named.append(next(islice(steps(state), place, None)))
        state = target
    return tuple(named)
