"""Exact percentiles by the nearest rank."""

from collections.abc import Iterable
from math import ceil


def percentile(values: Iterable[int], share: float) -> int:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: At least one.
        share: Above 0, at most 1.
    """
    ordered = sorted(values)
    return ordered[ceil(share * len(ordered)) - 1]
