"""What is drawn of a row of a study's results, and the titles of its panels."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from purgatory_pipeline.studies.plot_style import Panel
from purgatory_pipeline.studies.reading import count, mean, per_request
from purgatory_pipeline.studies.tables import Row

Value = Callable[[Row], float]
"""A number that a row tells."""

Plots = Iterator[tuple[str, Sequence[Panel]]]
"""The plots of a study: their names, and the panels of each."""

TITLES: Final = {"low": "low: few time out", "high": "high: half time out"}
"""The title of each case."""


def per_request_of(name: str) -> Value:
    """So many of something for a request."""
    return lambda row: per_request(row, name)


def mean_of(name: str) -> Value:
    """The mean of something over time."""
    return lambda row: mean(row, name)


def most_of(name: str) -> Value:
    """The most that there was of something at a time."""
    return lambda row: count(row, f"{name}_most")
