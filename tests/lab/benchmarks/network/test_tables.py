"""Aims follow from the file: each is missed by a figure that is worse, and each control is told."""

from collections.abc import Sequence

import pytest

from purgatory_lab.benchmarks.network.messages import Load, Served
from purgatory_lab.benchmarks.network.plan import LARGE, SMALL
from purgatory_lab.benchmarks.network.results import (
    Design,
    FairnessSample,
    IdleSample,
    LoadSample,
    NetworkResults,
    SpikeSample,
)
from purgatory_lab.benchmarks.network.tables import aims, regions

from ..bench.written import MACHINE

pytestmark = pytest.mark.verify

MIB = 2**20


def file(
    spikes: Sequence[SpikeSample] = (),
    fairness: Sequence[FairnessSample] = (),
    idles: Sequence[IdleSample] = (),
    loads: Sequence[LoadSample] = (),
) -> NetworkResults:
    return NetworkResults(
        format="purgatory-bench-network",
        version=1,
        began="2026-01-02T03:04:05+00:00",
        seconds=61.0,
        command="purgatory bench network",
        machine=MACHINE,
        spikes=spikes,
        fairness=fairness,
        idles=idles,
        loads=loads,
    )


def served(requests: int = 1000, cpu_s: float = 1.0, polls: int = 0, **more: int) -> Served:
    return Served(False, requests, cpu_s, 1.0, polls, **more)


def spike(count: int, most: int, grown: int, design: Design = "byte bound") -> SpikeSample:
    load = Load(count, 1, 1, MIB, is_crowd=True)
    what = served(count, most_bytes=most, grown_bytes=grown)
    return SpikeSample(design, False, 3 * MIB + 1, load, what)


def loaded(name: str, per_cpu_s: int, number: int = 1, *, is_bounded: bool = True) -> LoadSample:
    load = Load(16, 1, 1, 100 if name == SMALL else MIB)
    what = served(requests=per_cpu_s)
    return LoadSample(name, "pure", False, "default", is_bounded, number, load, what)


def verdicts(results: NetworkResults) -> list[str]:
    return [each.verdict for each in aims(results)]


def test_a_byte_above_the_bound_misses_the_aim() -> None:
    small, large = spike(8, 4 * MIB, 5 * MIB), spike(32, 4 * MIB, 6 * MIB)
    assert verdicts(file([small, large])) == ["met", "met"]
    assert verdicts(file([small, spike(32, 4 * MIB + 1, 6 * MIB)])) == ["**missed**", "met"]


def test_memory_that_follows_the_load_misses_the_aim() -> None:
    small = spike(8, 4 * MIB, 5 * MIB)
    assert verdicts(file([small, spike(32, 4 * MIB, 29 * MIB)])) == ["met", "**missed**"]


@pytest.mark.parametrize("design", ["no bound", "queue bound alone"])
def test_a_design_that_does_not_bound_bytes_is_found(design: Design) -> None:
    taking = [spike(count, count * MIB, count * MIB, design) for count in (8, 32)]
    assert verdicts(file(taking)) == ["found", "found"]
    lucky = [spike(count, 4 * MIB, 4 * MIB, design) for count in (8, 32)]
    assert verdicts(file(lucky)) == ["not found", "not found"]


def test_orders_are_judged_by_index_and_wait() -> None:
    fair = FairnessSample("first come", False, (10, 10, 10), 2)
    late = FairnessSample("first come", True, (10, 10, 10), 3)
    other = FairnessSample("random", False, (20, 5, 5), 9)
    assert verdicts(file(fairness=[fair, other])) == ["met", "found"]
    assert verdicts(file(fairness=[fair, late])) == ["**missed**"]


def test_an_idle_server_polls_and_computes_little() -> None:
    calm = IdleSample(False, False, served(cpu_s=0.001, polls=4))
    often = IdleSample(False, False, served(cpu_s=0.001, polls=6))
    dear = IdleSample(False, False, served(cpu_s=0.02, polls=4))
    wild = IdleSample(False, True, served(cpu_s=0.9, polls=40_000))
    assert verdicts(file(idles=[calm, wild])) == ["met", "found"]
    assert verdicts(file(idles=[often, dear])) == ["**missed**", "**missed**"]


def test_throughput_is_judged_by_its_median_and_the_bound_within_rounds() -> None:
    rates = [(104_000, 100_000), (84_000, 80_000), (100_000, 50_000)]
    loads = [
        loaded(SMALL, rate, number, is_bounded=bounded)
        for number, both in enumerate(rates, start=1)
        for bounded, rate in zip((False, True), both, strict=True)
    ]
    rate, loss = aims(file(loads=loads))
    assert (rate.measured, rate.verdict) == ("100 bytes: 80,000 [50,000 to 100,000]", "met")
    assert (loss.measured, loss.verdict) == ("+5.0% to +5.0%", "met")
    worse = [*loads, loaded(SMALL, 100_000, 4, is_bounded=False), loaded(SMALL, 79_000, 4)]
    assert verdicts(file(loads=worse)) == ["**missed**", "**missed**"]


def test_large_bodies_are_judged_in_bytes() -> None:
    enough = [loaded(LARGE, 3000, is_bounded=each) for each in (False, True)]
    assert verdicts(file(loads=enough)) == ["met", "met"]
    short = [loaded(LARGE, 2800, is_bounded=each) for each in (False, True)]
    assert verdicts(file(loads=short)) == ["**missed**", "met"]


def test_a_part_that_was_not_taken_has_no_region() -> None:
    fair = FairnessSample("first come", False, (10, 10, 10), 2)
    assert set(regions(file(fairness=[fair]))) == {"aims", "fairness"}
