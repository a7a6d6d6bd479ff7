"""Medians with their samples, and ratios formed within one round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Summary:
    """The summary of several rounds.

    Attributes:
        median: Of the rounds.
        least: Of them.
        most: Of them.
        rounds: The number of rounds, at least 1.
    """

    median: float
    least: float
    most: float
    rounds: int

    @property
    def spread(self) -> float:
        """Return the distance from the least to the most, as a share of the median."""
        return (self.most - self.least) / abs(self.median) if self.median else 0.0


def summary(values: Sequence[float]) -> Summary:
    """Return the summary of values, at least one."""
    return Summary(median(values), min(values), max(values), len(values))


def ratios(above: Mapping[int, float], below: Mapping[int, float]) -> list[float]:
    """Return the ratio of each round that has both values, in the order of the rounds.

    A round where the lower one is 0 has none: the clock was too coarse to tell.
    """
    return [above[each] / below[each] for each in sorted(above) if below.get(each)]
