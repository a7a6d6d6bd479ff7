"""Rows read: found by their settings, and put in proportion to requests and time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from purgatory_lab.documents import columned
from purgatory_lab.studies.tables import Cell, Row

_DIGITS: Final = ((100, 0), (10, 1), (1, 2), (0.01, 3), (0, 4))
"""The digits behind the point, by the size from which on they hold, largest size first."""


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


Column = tuple[str, Callable[[Row], str]]
"""The title, and the cell of a row."""


def table(rows: Sequence[Row], *columns: Column) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield from ("", *columned(rows, columns, _WORDS).splitlines())


def setting(title: str, name: str) -> Column:
    """Return a column of a setting."""

    def value(row: Row) -> str:
        cell = row[name]
        return f"{cell:,}" if isinstance(cell, int) else str(cell)

    return title, value


def total(title: str, name: str) -> Column:
    """Return a column of a count."""
    return title, lambda row: words(count(row, name))


def each(title: str, name: str) -> Column:
    """Return a column of a count for each request."""
    return title, lambda row: words(per_request(row, name))


def mean_and_most(title: str, name: str) -> Column:
    """Return a column of a held number: mean and most."""
    return title, lambda row: f"{words(mean(row, name))}, {words(count(row, f'{name}_most'))}"


def stale_share(row: Row) -> str:
    """Return the stale share of the entries that purges visited."""
    visited = count(row, "purge_visited")
    return f"{100 * count(row, 'purge_removed') / visited:.1f} %" if visited else "-"


def from_each_level(row: Row) -> str:
    """Return the reinsertions of a request from level 2, level 3 and so on."""
    levels = row["reinserted"]
    if not isinstance(levels, list) or len(levels) < 2:
        return "-"
    requests = count(row, "requests")
    return ", ".join(words(level / requests) for level in levels[1:])


def over_estimate(row: Row) -> str:
    """Return the excess of the estimate over the listed operations: mean and most."""
    if row["design"] in ("old", "weak"):
        return "-"
    return f"{words(mean(row, 'over_distinct'))}, {words(count(row, 'over_distinct_most'))}"


_WORDS: Final = ("design", "case", "keys", "expired requests run", "from each level")
PURGES: Final = (
    total("purges", "purges"),
    each("visited, a request", "purge_visited"),
    ("of it stale", stale_share),
    mean_and_most("stale operations: mean, most", "stale_operations"),
)
WHEELS: Final[tuple[Column, ...]] = (
    (
        "buckets",
        lambda row: words(count(row, "wheel_size")) if row["design"] == "exact" else "-",
    ),
    each("put again, a request", "reinserted"),
    ("from each level", from_each_level),
    each("wake-ups, a request", "wake_ups"),
    total("queue, most", "queued_most"),
)


def listed(rows: Sequence[Row], name: str) -> str:
    """Return a count for each request, of several rows, in words."""
    values = [words(per_request(row, name)) for row in rows]
    return f"{', '.join(values[:-1])} and {values[-1]}"
