"""The inputs: equal in all peers."""

import math
import statistics

import pytest

from purgatory_lab.benchmarks.python_peer.draws import (
    FAR,
    NEAR,
    VIRTUAL,
    Draws,
    drawn_replacements,
    key_names,
    percentile,
)
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Request
from purgatory_lab.benchmarks.python_peer.workload import drawn_inputs


@pytest.mark.parametrize("seed", [1234567, 1234567 + 2**64, 1234567 - 2**64])
def test_the_numbers_are_those_of_splitmix64(seed: int) -> None:
    draws = Draws(seed)
    assert [draws.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_a_number_below_a_limit_is_made_of_the_upper_bits() -> None:
    assert Draws(1234567).below(60_000) == (6457827717110365317 >> 33) % 60_000


def test_a_victim_is_drawn_before_the_delay_that_takes_its_place() -> None:
    request = Request("random", pending=5, operations=2, seed=9)
    numbers = Draws(9)
    expected = [1 + numbers.below(60_000) for _ in range(5)]
    pairs = [(numbers.below(5), 1 + numbers.below(60_000)) for _ in range(2)]
    first, victims, fresh = drawn_replacements(request, VIRTUAL, oldest=False)
    assert list(first) == expected
    assert list(zip(victims, fresh, strict=True)) == pairs


def test_the_oldest_needs_no_drawing() -> None:
    request = Request("fifo", pending=2, operations=5, seed=9)
    numbers = Draws(9)
    delays = [1 + numbers.below(60_000) for _ in range(7)]
    first, victims, fresh = drawn_replacements(request, VIRTUAL, oldest=True)
    assert [*first, *fresh] == delays
    assert list(victims) == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("delays", "lowest", "highest"),
    [(VIRTUAL, 1, 60_000), (FAR, 60_000, 119_999), (NEAR, 1, 2_000)],
)
def test_delays_fill_their_range(delays: object, lowest: int, highest: int) -> None:
    assert isinstance(delays, type(VIRTUAL))
    drawn = delays.draw(Draws(1), 20_000)
    assert lowest <= min(drawn) < lowest + delays.span // 100
    assert highest - delays.span // 100 < max(drawn) <= highest


def test_three_keys_are_three_different_ones() -> None:
    draws, names = Draws(3), key_names(4)
    drawn = [draws.three_of(names) for _ in range(300)]
    assert all(len(set(keys)) == 3 for keys in drawn)
    assert {key for keys in drawn for key in keys} == set(names)
    assert len(set(drawn)) == 24


@pytest.mark.parametrize(("case", "median_ms", "upper_ms"), [("low", 20, 60), ("high", 200, 400)])
def test_the_workload_has_the_percentiles_of_the_proposal(
    case: str, median_ms: int, upper_ms: int
) -> None:
    request = Request("workload", operations=20_000, rate=5_000.0, case=case)  # type: ignore[arg-type]
    inputs = drawn_inputs(request)
    latencies_ms = [latency / 1e6 for latency in inputs.latencies_ns]
    assert statistics.median(latencies_ms) == pytest.approx(median_ms, rel=0.05)
    assert statistics.quantiles(latencies_ms, n=4)[2] == pytest.approx(upper_ms, rel=0.05)
    intervals = [
        after - before
        for before, after in zip(inputs.arrivals_ns, inputs.arrivals_ns[1:], strict=False)
    ]
    assert statistics.fmean(intervals) == pytest.approx(200_000, rel=0.05)
    # Half of the intervals of an exponential distribution are shorter than ln 2 of the mean.
    assert statistics.median(intervals) == pytest.approx(200_000 * math.log(2), rel=0.05)
    assert [set(keys) for keys in inputs.keys] == [set(key_names(3))]


def test_as_fast_as_it_goes_has_no_intervals() -> None:
    inputs = drawn_inputs(Request("workload", operations=10, keys=1000))
    assert set(inputs.arrivals_ns) == {0}
    assert len(set(inputs.keys)) > 4_000


def test_two_keys_are_too_few_for_a_workload() -> None:
    with pytest.raises(CannotMeasure, match="three different keys"):
        drawn_inputs(Request("workload", keys=2))


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 5), (0.9, 9), (0.91, 10), (0.99, 10), (1.0, 10), (0.01, 1)]
)
def test_percentiles_are_exact(share: float, value: int) -> None:
    assert percentile([10, 1, 9, 2, 8, 3, 7, 4, 6, 5], share) == value
