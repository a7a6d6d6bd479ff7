"""The first difference of two state graphs: the shortest path to a state or step of one side alone.

Up to the first difference both graphs have the same states and edges, so the path to it is a path
in both. The search is breadth first, over the edges that both have; among the differences at one
distance the smallest label is reported.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from purgatory_tla.comparing.numbering import Numbering, edge, ends, label_text
from purgatory_tla.comparing.state_graph import NumberedGraph


class Side(Enum):
    """A side of the comparison, in words."""

    MODEL = "the model"
    CHECKER = "TLA+"


Changes = Mapping[str, tuple[str, str]]
"""Values of variables in TLA+, before and after, by the names of those that change."""


@dataclass(frozen=True, slots=True)
class CommonStep:
    """A step that both sides have."""

    label: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class Difference:
    """A state or step that one side has and the other side lacks.

    Attributes:
        only: The side that has the state or step.
        path: The common steps to the place.
        at: The state there, its values by the variables' names.
        label: The label of the edge; None where the initial state itself differs.
        changes: What the edge changes.
        others: The changes by edges of the same label on the other side.
    """

    only: Side
    path: tuple[CommonStep, ...]
    at: Mapping[str, str]
    label: str | None = None
    changes: Changes = field(default_factory=dict)
    others: tuple[Changes, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of two graphs: numbers of states and edges, and the first on each side."""

    states: Mapping[Side, int]
    edges: Mapping[Side, int]
    first: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return bool(self.first)


def differences(model: NumberedGraph, checker: NumberedGraph, numbering: Numbering) -> Differences:
    """Compare two graphs: initial states, states and edges must be the same."""
    sides = {Side.MODEL: model, Side.CHECKER: checker}
    found: list[Difference] = []
    if model.initial != checker.initial:
        for side, other in ((Side.MODEL, checker), (Side.CHECKER, model)):
            own = sorted(sides[side].initial - other.initial)
            found += [Difference(side, (), numbering.state_texts(state)) for state in own[:1]]
    elif model.edges != checker.edges:
        found = _first_edges(model, checker, numbering)
    return Differences(
        {
            Side.MODEL: len(model.states - checker.states),
            Side.CHECKER: len(checker.states - model.states),
        },
        {
            Side.MODEL: len(model.edges - checker.edges),
            Side.CHECKER: len(checker.edges - model.edges),
        },
        tuple(found),
    )


def _first_edges(
    model: NumberedGraph, checker: NumberedGraph, numbering: Numbering
) -> list[Difference]:
    entered = _entered(model.initial, model.edges & checker.edges)
    order = {state: place for place, state in enumerate(entered)}
    texts = [label_text(label) for label in numbering.labels]
    told: list[Difference] = []
    for side, own, other in (
        (Side.MODEL, model.edges, checker.edges),
        (Side.CHECKER, checker.edges, model.edges),
    ):
        reached = [each for each in map(ends, own - other) if each[0] in order]
        if reached:
            source, label, target = min(
                reached, key=lambda each: (order[each[0]], texts[each[1]], each[2])
            )
            told.append(
                Difference(
                    only=side,
                    path=_path(source, entered, numbering),
                    at=numbering.state_texts(source),
                    label=texts[label],
                    changes=changes(source, target, numbering),
                    others=tuple(
                        changes(source, each, numbering) for each in _targets(source, label, other)
                    ),
                )
            )
    # One label with two targets is one difference, seen from either side.
    if len(told) == 2 and (told[0].path, told[0].label) == (told[1].path, told[1].label):
        return told[:1]
    return sorted(told, key=lambda each: len(each.path))


def changes(source: int, target: int, numbering: Numbering) -> dict[str, tuple[str, str]]:
    """Return the variables that differ between two states, each with its value before and after."""
    before, after = numbering.state_texts(source), numbering.state_texts(target)
    return {
        name: (before[name], after[name])
        for name in numbering.variables
        if before[name] != after[name]
    }


def _entered(initial: Iterable[int], edges: frozenset[int]) -> dict[int, int | None]:
    """Return the reachable states, nearest first, each with the edge by which it is reached."""
    leaving: defaultdict[int, list[int]] = defaultdict(list)
    for number in sorted(edges):
        leaving[ends(number)[0]].append(number)
    entered: dict[int, int | None] = dict.fromkeys(sorted(initial))
    level = list(entered)
    while level:
        following: list[int] = []
        for state in level:
            for number in leaving[state]:
                target = ends(number)[2]
                if target not in entered:
                    entered[target] = number
                    following.append(target)
        level = following
    return entered


def _path(
    state: int, entered: Mapping[int, int | None], numbering: Numbering
) -> tuple[CommonStep, ...]:
    path: list[CommonStep] = []
    while (number := entered[state]) is not None:
        source, label, target = ends(number)
        text = label_text(numbering.labels[label])
        path.append(CommonStep(text, changes(source, target, numbering)))
        state = source
    return tuple(reversed(path))


def _targets(source: int, label: int, edges: frozenset[int]) -> list[int]:
    """Return the states to which a label leads from a state, in a graph."""
    low = edge(source, label, 0)
    high = edge(source, label + 1, 0)
    return sorted(ends(number)[2] for number in edges if low <= number < high)
