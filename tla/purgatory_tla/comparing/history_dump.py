"""The state graph that TLC wrote of a history module, read as that of the module it extends.

The states at rest, in which the variable ``step`` is empty, are the extended module's states. Each
of its steps is a way of two edges: from a state at rest to one that bears the label, and from there
to the state at rest that is the same otherwise. The dump is read line by line; what is held are
numbers, and each distinct text of a variable's value.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from purgatory_tla.checkers.tlc.dot_dump import Edge, Node, read_dump, unescaped
from purgatory_tla.comparing.numbering import LabelKey, Numbering, edge
from purgatory_tla.comparing.state_graph import NumberedGraph
from purgatory_tla.errors import IllTyped, InvalidSpecification, UnexpectedOutput
from purgatory_tla.values.printed import parse_state
from purgatory_tla.values.shapes import shaped
from purgatory_tla.values.type_annotations import Type
from purgatory_tla.values.values import Value, to_tla

STEP = "step"
"""The variable that shows the label."""

_NO_LABEL, _NOT_READ = -1, -2


@dataclass(frozen=True, slots=True)
class HistoryDump:
    """The graph of the extended module, and how many nodes and edges the dump has itself."""

    graph: NumberedGraph
    nodes: int
    edges: int


def read_history(
    lines: Iterable[str], numbering: Numbering, types: Mapping[str, Type]
) -> HistoryDump:
    """Read a dump of a history module.

    Args:
        lines: The dump, line by line.
        numbering: Gives the numbers; its variables are those of the extended module.
        types: The declared types of the variables.

    Raises:
        UnexpectedOutput: the dump is not complete, or not as TLC writes one.
        InvalidSpecification: it is not the graph of a history.
        IllTyped: a value is not of its variable's type.
    """
    reader = _Reader(numbering, types)
    for item in read_dump(lines):
        if isinstance(item, Node):
            reader.add_node(item)
        else:
            reader.add_edge(item)
    return reader.finished()


@dataclass(slots=True)
class _Reader:
    """Takes in nodes and edges.

    TLC's numbers of states are numbered in turn, in the order in which they are met: ``places``.
    For each place ``states`` and ``labels`` have the numbers of the state and of the label.
    """

    numbering: Numbering
    types: Mapping[str, Type]
    places: dict[int, int] = field(default_factory=dict)
    states: "array[int]" = field(default_factory=lambda: array("q"))
    labels: "array[int]" = field(default_factory=lambda: array("q"))
    sources: "array[int]" = field(default_factory=lambda: array("q"))
    targets: "array[int]" = field(default_factory=lambda: array("q"))
    initial: set[int] = field(default_factory=set)
    known: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add_edge(self, read: Edge) -> None:
        self.sources.append(self._place(read.source))
        self.targets.append(self._place(read.target))

    def add_node(self, node: Node) -> None:
        place = self._place(node.identifier)
        if self.labels[place] != _NOT_READ:
            raise UnexpectedOutput(f"TLC's graph has the state {node.identifier} a second time")
        values = dict([self.known.get(text) or self._parsed(text) for text in node.variables])
        if values.keys() != {*self.numbering.variables, STEP}:
            found = ", ".join(sorted(values))
            raise UnexpectedOutput(f"a state of TLC's graph has other variables: {found}")
        self.states[place] = self.numbering.state(
            tuple([values[name] for name in self.numbering.variables])
        )
        self.labels[place] = values[STEP]
        if node.initial:
            self.initial.add(place)

    def finished(self) -> HistoryDump:
        """Return the graph, when all is read."""
        if _NOT_READ in self.labels:
            raise UnexpectedOutput("TLC's graph has an edge at a state that it does not have")
        if not self.initial:
            raise UnexpectedOutput("TLC's graph has no initial state")
        if any(self.labels[place] != _NO_LABEL for place in self.initial):
            raise InvalidSpecification(f"'{STEP}' must be empty in the initial states")
        edges = frozenset(self._edges())
        at_rest = {self.states[place] for place in self._at_rest()}
        initial = frozenset(self.states[place] for place in self.initial)
        graph = NumberedGraph(initial, frozenset(at_rest), edges)
        return HistoryDump(graph, len(self.places), len(self.sources))

    def _at_rest(self) -> Iterable[int]:
        return (place for place, label in enumerate(self.labels) if label == _NO_LABEL)

    def _edges(self) -> Iterable[int]:
        """Yield the extended module's steps; each label must show in the step back to rest."""
        seen = bytearray(len(self.places))
        for source, target in zip(self.sources, self.targets, strict=True):
            label = self.labels[target]
            if (self.labels[source] == _NO_LABEL) == (label == _NO_LABEL):
                raise self._no_history(source, target, "sets a label on another, or none")
            if label != _NO_LABEL:
                yield edge(self.states[source], label, self.states[target])
            elif self.states[source] != self.states[target]:
                raise self._no_history(source, target, "changes more than the label")
            else:
                seen[source] = True
        if len(self.places) - sum(seen) != sum(1 for _ in self._at_rest()):
            raise InvalidSpecification("a state with a label has no step to rest")

    def _place(self, identifier: int) -> int:
        place = self.places.setdefault(identifier, len(self.places))
        if place == len(self.states):
            self.states.append(_NOT_READ)
            self.labels.append(_NOT_READ)
        return place

    def _parsed(self, text: str) -> tuple[str, int]:
        """Return a variable's name with its value's number, or with its label's."""
        ((name, printed),) = parse_state(unescaped(text)).items()
        try:
            value = shaped(printed, self.types.get(name))
        except IllTyped as error:
            raise IllTyped(f"{name} in TLC's graph: {error}") from error
        self.known[text] = name, self._label(value) if name == STEP else self.numbering.value(value)
        return self.known[text]

    def _label(self, value: Value) -> int:
        if value == ():
            return _NO_LABEL
        if isinstance(value, tuple) and isinstance(value[0], str):
            label: LabelKey = tuple(each for each in value if isinstance(each, str | int))
            if len(label) == len(value):
                return self.numbering.label(label)
        raise InvalidSpecification(
            f"'{STEP}' must be an action's name and its arguments, and is {to_tla(value)}"
        )

    def _no_history(self, source: int, target: int, why: str) -> InvalidSpecification:
        states = [self.numbering.state_texts(self.states[place]) for place in (source, target)]
        return InvalidSpecification(f"a step {why}:\n  from {states[0]}\n  to {states[1]}")
