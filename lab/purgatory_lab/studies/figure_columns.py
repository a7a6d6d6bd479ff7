"""Tables of figures in Markdown: columns, and what stands in their cells."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from purgatory_lab.studies.reading import count, mean, per_request, words
from purgatory_lab.studies.tables import Row

Column = tuple[str, Callable[[Row], str]]
"""The title, and the cell of a row."""


def table(rows: Sequence[Row], *columns: Column) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield ""
    yield f"| {' | '.join(title for title, _ in columns)} |"
    yield f"|{'|'.join('---' if title in _WORDS else '---:' for title, _ in columns)}|"
    for row in rows:
        yield f"| {' | '.join(value(row) for _, value in columns)} |"


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
