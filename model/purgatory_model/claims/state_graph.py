"""The complete state graph of a small instance: every state, and every labelled step between them.

States are numbered in breadth-first order, so a state's number tells how it was found: by the
shortest path, and among these by the one whose steps come first. An edge is three numbers, its
source, its label and its target; so a graph of a hundred thousand states and a million edges fits
into some dozens of megabytes beside the states themselves.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)
Label = TypeVar("Label", bound=Hashable)

Triple = tuple[int, int, int]
"""An edge: the numbers of source, label and target."""

_NONE = -1


class TooManyStates(Exception):
    """The instance has more states than it may have; ``limit`` is how many it may."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"there are more than {limit} states: take a smaller instance or a higher limit"
        )
        self.limit = limit


@dataclass(frozen=True, slots=True)
class StateGraph(Generic[State, Label]):
    """A complete graph; see ``complete_graph``.

    Attributes:
        states: The states by number; number 0 is the initial one.
        labels: The labels by number.
        sources: For each edge the number of the state that it leaves; rising.
        labelled: For each edge the number of its label.
        targets: For each edge the number of the state that it leads to.
        entered: For each state the number of the edge by which it was found, -1 for the initial.
        distances: For each state the least number of steps to it.
    """

    states: tuple[State, ...]
    labels: tuple[Label, ...]
    sources: "array[int]"
    labelled: "array[int]"
    targets: "array[int]"
    entered: "array[int]"
    distances: "array[int]"

    @property
    def depth(self) -> int:
        """Return the greatest distance from the initial state."""
        return self.distances[-1]

    def edges(self) -> Iterator[Triple]:
        """Yield every edge once, the edges of one state together."""
        return zip(self.sources, self.labelled, self.targets, strict=True)

    def deadlocks(self) -> tuple[int, ...]:
        """Return the states that no step leaves."""
        left = set(self.sources)
        return tuple(number for number in range(len(self.states)) if number not in left)

    def path_to(self, number: int) -> tuple[tuple[Label, State], ...]:
        """Return a shortest path from the initial state: labels with the states they lead to."""
        path: list[tuple[Label, State]] = []
        while (edge := self.entered[number]) != _NONE:
            path.append((self.labels[self.labelled[edge]], self.states[number]))
            number = self.sources[edge]
        return tuple(reversed(path))


def complete_graph(
    initial: State,
    steps: Callable[[State], Iterable[tuple[Label, State]]],
    *,
    limit: int = 1_000_000,
) -> StateGraph[State, Label]:
    """Visit every state that can be reached, and keep every edge once.

    Args:
        initial: Where to begin.
        steps: The labelled steps that leave a state; one given twice counts once.
        limit: How many states there may be.

    Raises:
        TooManyStates: there are more.
    """
    numbers: dict[State, int] = {initial: 0}
    labels: dict[Label, int] = {}
    states = [initial]
    sources, labelled, targets = array("q"), array("q"), array("q")
    entered, distances = array("q", [_NONE]), array("q", [0])
    for source, state in enumerate(states):
        seen: set[tuple[int, int]] = set()
        for label, target in steps(state):
            number = numbers.get(target)
            if number is None:
                if len(states) >= limit:
                    raise TooManyStates(limit)
                number = numbers[target] = len(states)
                states.append(target)
                entered.append(len(sources))
                distances.append(distances[source] + 1)
            edge = (labels.setdefault(label, len(labels)), number)
            if edge not in seen:
                seen.add(edge)
                sources.append(source)
                labelled.append(edge[0])
                targets.append(number)
    return StateGraph(tuple(states), tuple(labels), sources, labelled, targets, entered, distances)
