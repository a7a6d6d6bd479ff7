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
        """Return the rows with these settings."""
        return [
            row for row in self._rows if all(row[name] == value for name, value in settings.items())
        ]

    def one(self, **settings: Cell) -> Row:
        """Return the only row with these settings.

        Raises:
            LookupError: no row fits, or several rows do.
        """
        found = self.all(**settings)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows have {settings}")
        return found[0]


def count(row: Row, name: str) -> int:
    """Return a number of the row; of a number for each level, the sum."""
    value = row[name]
    if isinstance(value, str):
        raise TypeError(f"{name} is no number")
    return sum(value) if isinstance(value, list) else value


def per_request(row: Row, name: str) -> float:
    """Return a count for each request."""
    return count(row, name) / count(row, "requests")


def per_event(row: Row, name: str) -> float:
    """Return a count for each event that checked a key."""
    return count(row, name) / count(row, "events")


def mean(row: Row, name: str) -> float:
    """Return the mean of a held number over the virtual time."""
    return count(row, f"{name}_sum") / count(row, "virtual_ms")


def early_ms(row: Row) -> float:
    """Return the mean earliness of requests that expired too early, ms."""
    return count(row, "early_ms") / count(row, "expired")


def words(value: float) -> str:
    """Return a number with three digits, or with all digits before its point."""
    rounded = abs(float(f"{value:.3g}"))
    if isinstance(value, int) or rounded >= 1000:
        return f"{round(value):,}"
    if rounded == 0:
        return "0"
    digits = next(digits for least, digits in _DIGITS if rounded >= least)
    return f"{value:.{digits}f}"
