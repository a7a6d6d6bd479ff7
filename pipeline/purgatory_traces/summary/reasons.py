"""Reasons that differ in names and numbers alone, counted together; the first is kept in full.

Memory is bounded by how many different reasons there are, ``MOST_REASONS`` at the most for each
sort of row, not by that of rows.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from purgatory_traces.results.rows import QuarantineRow, VerdictRow

MOST_REASONS = 200
"""The most reasons that are told apart; any other is counted under one word."""

_OTHER = "other reasons"
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|(?<!\w)-[0-9]+|[0-9]+")

AnyRow = TypeVar("AnyRow", VerdictRow, QuarantineRow)


class Correction(Protocol):
    """A correction that puts another row in place of one."""

    def __call__(self, row: AnyRow, /) -> AnyRow:
        """Return the row that takes the place of a row."""


def general(reason: str) -> str:
    """Return a reason without its numbers and values, so that equal problems count together.

    What stands in backticks stays: it names a key, a type or a place in the line, and two lines
    that lack different keys have two problems.
    """
    return _PARTICULAR.sub("…", reason)


@dataclass
class Alike(Generic[AnyRow]):
    """Rows with the same reason, but for what is particular.

    Attributes:
        reason: Why, without what is particular.
        example: The first of them, in the order of their table.
        rows: How many there are.
        differ: Whether another of them has other words than the first.
    """

    reason: str
    example: AnyRow
    rows: int = 0
    differ: bool = False

    @property
    def words(self) -> str:
        """Return the reason: in full where all have the same words, else in general words."""
        return self.reason if self.differ else self.example.reason


@dataclass
class Reasons(Generic[AnyRow]):
    """Counts rows by their reasons, and lists the reasons at the end."""

    _found: dict[tuple[str, str], Alike[AnyRow]] = field(default_factory=dict)

    def take(self, row: AnyRow, sort: str) -> None:
        """Count a row; rows of different sorts are told apart whatever their reasons."""
        key = sort, general(row.reason)
        if len(self._found) >= MOST_REASONS and key not in self._found:
            key = sort, _OTHER
        self._add(key, Alike(key[1], row, 1))

    def merge(self, other: "Reasons[AnyRow]") -> None:
        """Count what another has counted, too."""
        for key, alike in other._found.items():
            if len(self._found) >= MOST_REASONS and key not in self._found:
                key = key[0], _OTHER
            self._add(key, replace(alike, reason=key[1]))

    def _add(self, key: tuple[str, str], more: Alike[AnyRow]) -> None:
        alike = self._found.setdefault(key, more)
        if alike is more:
            return
        alike.rows += more.rows
        alike.differ |= more.differ or more.example.reason != alike.example.reason
        alike.example = min(alike.example, more.example, key=_place)

    def correct(self, row_of: Correction) -> None:
        """Put others in the place of the examples."""
        for alike in self._found.values():
            alike.example = row_of(alike.example)

    def commonest(self) -> list[Alike[AnyRow]]:
        """Return the groups of equal reasons, the commonest first."""
        found = sorted(self._found.items(), key=lambda each: (-each[1].rows, each[0]))
        return [alike for _, alike in found]


def _place(row: VerdictRow | QuarantineRow) -> tuple[str, int]:
    """Return the place of a row in its table, for the order of examples."""
    return (row.run, 0) if isinstance(row, VerdictRow) else (row.file, row.line)
