"""A state graph in numbers, and that of an executable model."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from purgatory_model.claims.state_graph import complete_graph
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.comparing.numbering import Numbering, edge
from purgatory_tla.values.values import Value

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NumberedGraph:
    """States and edges by the numbers of a ``Numbering``.

    Attributes:
        initial: The initial states.
        states: All of them.
        edges: The edges, each as one number; see ``numbering.edge``.
    """

    initial: frozenset[int]
    states: frozenset[int]
    edges: frozenset[int]


class MapIsNotOneToOne(Exception):
    """Two states of the model have the same values of all variables."""


def model_graph(binding: Binding[State], numbering: Numbering, *, limit: int) -> NumberedGraph:
    """Return the complete graph of a binding's model.

    Raises:
        TooManyStates: it has more states than the limit.
        MapIsNotOneToOne: the variables do not tell two states of the model apart.
    """
    graph = complete_graph(binding.initial, binding.steps, limit=limit)
    compute = [binding.variables[name].value for name in numbering.variables]
    states = [_number(state, compute, numbering) for state in graph.states]
    _refuse_same(graph.states, states)
    labels = [numbering.label((step.action, *step.arguments)) for step in graph.labels]
    edges = frozenset(edge(states[s], labels[by], states[t]) for s, by, t in graph.edges())
    return NumberedGraph(frozenset(states[:1]), frozenset(states), edges)


def _number(state: State, compute: Sequence[Callable[[State], Value]], numbering: Numbering) -> int:
    return numbering.state(tuple(numbering.value(value(state)) for value in compute))


def _refuse_same(states: Sequence[Hashable], numbers: Sequence[int]) -> None:
    first: dict[int, Hashable] = {}
    for number, state in zip(numbers, states, strict=True):
        if first.setdefault(number, state) is not state:
            raise MapIsNotOneToOne(
                "two states of the model have the same values of all variables:\n"
                f"  {first[number]}\n  {state}"
            )
