"""Medians and ratios."""

import pytest

from purgatory_bench.bench.statistics import Summary, ratios, summary


def test_a_summary_is_median_least_and_most() -> None:
    assert summary([5.0, 1.0, 2.0]) == Summary(2.0, 1.0, 5.0, 3)
    assert summary([4.0, 1.0, 2.0, 3.0]).median == 2.5
    assert summary([7.0]) == Summary(7.0, 7.0, 7.0, 1)


def test_the_spread_is_a_share_of_the_median() -> None:
    assert summary([90.0, 100.0, 120.0]).spread == pytest.approx(0.3)
    assert summary([0.0, 0.0]).spread == 0.0


def test_ratios_are_formed_within_a_round() -> None:
    # The machine is ten times as slow in the second round; no ratio sees that.
    ours, theirs = {1: 10.0, 2: 100.0, 3: 12.0}, {1: 20.0, 2: 200.0, 3: 20.0}
    assert ratios(ours, theirs) == [0.5, 0.5, 0.6]
    of_medians = summary(list(ours.values())).median / summary(list(theirs.values())).median
    assert of_medians == 0.6
    assert summary(ratios(ours, theirs)).median == 0.5


def test_a_round_that_lacks_one_value_has_no_ratio() -> None:
    assert ratios({1: 10.0, 2: 30.0, 4: 1.0}, {2: 10.0, 3: 10.0, 4: 0.0}) == [3.0]
