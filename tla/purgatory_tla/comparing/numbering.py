"""Numbers for values, states and labels, the same for both sides of a comparison.

A state is a tuple of numbers, one for each variable's value; states and labels are numbered in
turn, and an edge is one number made of three. Two values have the same number exactly if TLA+
writes both in the same way. So the sides are compared by comparing numbers, and each distinct value
is held once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from purgatory_tla.values.values import Value, to_tla

StateKey: TypeAlias = tuple[int, ...]
LabelKey: TypeAlias = tuple[str | int, ...]
"""An action's name and its arguments."""

Key = TypeVar("Key")
Item = TypeVar("Item")

MOST = 1 << 20
"""The most states, and the most labels, that can be numbered."""


class TooManyNumbers(Exception):
    """There are more than ``MOST`` states or labels."""


@dataclass(slots=True)
class Numbering:
    """The numbers given so far.

    ``variables`` is the order of a state's values. Without ``arguments`` labels that differ only in
    arguments have the same number.
    """

    variables: tuple[str, ...]
    arguments: bool = True
    texts: list[str] = field(default_factory=list)
    labels: list[LabelKey] = field(default_factory=list)
    states: list[StateKey] = field(default_factory=list)
    _of_text: dict[str, int] = field(default_factory=dict)
    _of_value: dict[tuple[type, Value], int] = field(default_factory=dict)
    _of_label: dict[str, int] = field(default_factory=dict)
    _of_state: dict[StateKey, int] = field(default_factory=dict)

    def value(self, value: Value) -> int:
        """Return the number of a value."""
        # TRUE is not 1 in TLA+, though Python has them equal.
        key = (value.__class__, value)
        number = self._of_value.get(key)
        if number is None:
            text = to_tla(value)
            number = self._of_text.setdefault(text, len(self.texts))
            if number == len(self.texts):
                self.texts.append(text)
            self._of_value[key] = number
        return number

    def state(self, values: StateKey) -> int:
        """Return the number of a state, given its values' numbers in the order of the variables."""
        return _number(values, values, self._of_state, self.states)

    def label(self, label: LabelKey) -> int:
        """Return the number of a label."""
        if not self.arguments:
            label = label[:1]
        return _number(label_text(label), label, self._of_label, self.labels)

    def state_texts(self, state: int) -> dict[str, str]:
        """Return a state's values in TLA+, by the variables' names."""
        values = (self.texts[number] for number in self.states[state])
        return dict(zip(self.variables, values, strict=True))


def edge(source: int, label: int, target: int) -> int:
    """Return an edge as one number."""
    return (source * MOST + label) * MOST + target


def ends(number: int) -> tuple[int, int, int]:
    """Return the source, the label and the target of an edge."""
    rest, target = divmod(number, MOST)
    source, label = divmod(rest, MOST)
    return source, label, target


def label_text(label: Sequence[str | int]) -> str:
    """Return a label as a reader sees it: ``Insert("a", 3)``."""
    action, *arguments = label
    return f"{action}({', '.join(map(to_tla, arguments))})" if arguments else str(action)


def _number(key: Key, item: Item, numbers: dict[Key, int], items: list[Item]) -> int:
    number = numbers.setdefault(key, len(items))
    if number == len(items):
        if number >= MOST:
            raise TooManyNumbers(f"there are more than {MOST:,} states or labels to compare")
        items.append(item)
    return number
