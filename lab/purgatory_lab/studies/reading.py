"""Rows read: found by their settings, and put in proportion to requests and time."""

from collections.abc import Iterable
from typing import Final

from purgatory_lab.studies.tables import Cell, Row

_DIGITS: Final = ((100, 0), (10, 1), (1, 2), (0.01, 3), (0, 4))
"""From which size on how many digits stand behind the point."""


class Rows:
    """The rows of one study."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    def all(self, **settings: Cell) -> list[Row]:
        """The rows with these settings."""
        return [
            row for row in self._rows if all(row[name] == value for name, value in settings.items())
        ]

    def one(self, **settings: Cell) -> Row:
        """The only row with these settings.

        Raises:
            LookupError: no row fits, or several rows do.
        """
        found = self.all(**settings)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows have {settings}")
        return found[0]


def count(row: Row, name: str) -> int:
    """A number of the row; of a number for each level, the sum."""
    value = row[name]
    if isinstance(value, str):
        raise TypeError(f"{name} is no number")
    return sum(value) if isinstance(value, list) else value


def per_request(row: Row, name: str) -> float:
    """A count for each request."""
    return count(row, name) / count(row, "requests")


def per_event(row: Row, name: str) -> float:
    """A count for each event that checked a key."""
    return count(row, name) / count(row, "events")


def mean(row: Row, name: str) -> float:
    """What was held, on average over the virtual time."""
    return count(row, f"{name}_sum") / count(row, "virtual_ms")


def early_ms(row: Row) -> float:
    """How much too early requests expired, on average of those that did, ms."""
    return count(row, "early_ms") / count(row, "expired")


def words(value: float) -> str:
    """A number with three digits, or as many as it has before its point."""
    rounded = abs(float(f"{value:.3g}"))
    if isinstance(value, int) or rounded >= 1000:
        return f"{round(value):,}"
    if rounded == 0:
        return "0"
    digits = next(digits for least, digits in _DIGITS if rounded >= least)
    return f"{value:.{digits}f}"
