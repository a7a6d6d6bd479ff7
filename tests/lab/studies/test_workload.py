"""The workload: its distributions against their closed forms, and the same for the same seed."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt

import pytest

from purgatory_lab.studies.workload import Workload

LOW = Workload(20_000, 10_000, 20, 60, 200, 1)
HIGH = Workload(20_000, 10_000, 200, 400, 200, 1)


def share_expired(workload: Workload) -> float:
    return sum(each.completion_ms is None for each in workload.generate()) / workload.requests


def near(share: float, expected: float, requests: int) -> bool:
    """Within four standard deviations."""
    return abs(share - expected) < 4 * sqrt(expected * (1 - expected) / requests)


@pytest.mark.parametrize("workload", [LOW, HIGH])
def test_the_quartiles_are_those_asked_for(workload: Workload) -> None:
    assert workload.survival(workload.median_ms) == pytest.approx(0.5)
    assert workload.survival(workload.upper_quartile_ms) == pytest.approx(0.25)
    assert workload.survival(0) == 1


@pytest.mark.parametrize("workload", [LOW, HIGH])
def test_as_many_time_out_as_the_distribution_says(workload: Workload) -> None:
    assert near(share_expired(workload), workload.survival(200), workload.requests)


def test_control_another_distribution_is_told_apart() -> None:
    assert not near(share_expired(LOW), HIGH.survival(200), LOW.requests)


def test_arrivals_come_at_the_rate() -> None:
    arrivals = [each.arrival_ms for each in LOW.generate()]
    assert arrivals == sorted(arrivals)
    assert arrivals[-1] == pytest.approx(2000, rel=4 / sqrt(LOW.requests))
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    # Arrivals of one millisecond: as many as an exponential gap of 0.1 ms leaves there.
    assert near(gaps.count(0) / len(gaps), 0.9, len(gaps))


def test_a_seed_is_a_workload() -> None:
    assert list(LOW.generate()) == list(LOW.generate())
    assert list(LOW.generate()) != list(replace(LOW, seed=2).generate())


def test_rates_share_what_is_drawn() -> None:
    slow = list(replace(LOW, rate=1_000).generate())
    fast = list(LOW.generate())
    assert [each.completion_ms is None for each in slow] == [
        each.completion_ms is None for each in fast
    ]
