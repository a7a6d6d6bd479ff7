"""Whole runs: nothing is lost, designs agree where they must, counts are those of closed forms."""

from dataclasses import replace
from math import sqrt

import pytest

from purgatory_lab.studies.counts import Counts, Range
from purgatory_lab.studies.designs import CountedDesign
from purgatory_lab.studies.setting import Case, DesignName, Setting
from purgatory_lab.studies.simulation import run
from purgatory_lab.studies.workload import Request

COUNTED: tuple[DesignName, ...] = ("old", "proposal", "exact", "discontinuous", "weak", "eager")


def counts_of(setting: Setting) -> Counts:
    return run(setting.workload.generate(), CountedDesign(setting))


def of(design: DesignName, case: Case = "high", requests: int = 4000) -> Setting:
    return Setting("test", design, case, requests=requests, rate=5000, key_space=50)


@pytest.mark.parametrize("tick_ms", [1, 30, 400])
@pytest.mark.parametrize("design", COUNTED)
def test_every_request_is_completed_or_times_out_exactly_once(
    design: DesignName, tick_ms: int
) -> None:
    counts = counts_of(replace(of(design), tick_ms=tick_ms))
    assert counts.completed + counts.expired == 4000
    assert counts.completed <= counts.events
    assert sum(counts.inserted) == 4000 - counts.expired_on_arrival
    assert counts.queue_pushes >= counts.queue_pops
    assert counts.expired_on_arrival == 0 or tick_ms > 200


def test_designs_complete_the_same_requests() -> None:
    found = {(counts.completed, counts.expired, counts.events, counts.live.sum)
             for counts in (counts_of(of(design)) for design in COUNTED)}  # fmt: skip
    assert len(found) == 1


def test_accountings_differ_in_purges_alone() -> None:
    proposal, exact = counts_of(of("proposal")), counts_of(of("exact"))
    assert proposal.reinserted == exact.reinserted
    assert proposal.wake_ups == exact.wake_ups
    assert proposal.queue_steps == exact.queue_steps
    assert proposal.purges != exact.purges


def test_what_expires_is_put_again_by_the_closed_form() -> None:
    """Expect level 1 for 19 in 20, all but the first millisecond of a bucket."""
    requests = 20_000
    counts = counts_of(replace(of("exact", "all-expire", requests), rate=500))
    assert counts.inserted == [0, requests]
    assert counts.reinserted[0] == 0
    expected = 19 / 20
    deviation = sqrt(requests * expected * (1 - expected))
    assert abs(counts.reinserted[1] - requests * expected) < 4 * deviation
    assert counts.early_ms == 0


@pytest.mark.parametrize("case", ["low", "high"])
def test_what_is_completed_on_level_2_is_not_put_again(case: Case) -> None:
    """Expect 1/20 of the sum of the survivals at the ends of the 19 other places."""
    setting = replace(of("exact", case, 20_000), rate=500)
    survival = setting.workload.survival
    expected = sum(survival(200 - place - 0.5) for place in range(1, 20)) / 20
    deviation = sqrt(20_000 * expected * (1 - expected))
    assert abs(counts_of(setting).reinserted[1] - 20_000 * expected) < 4 * deviation


@pytest.mark.parametrize(("tick_ms", "expected"), [(1, 0.0), (2, 0.5), (5, 2.0), (20, 9.5)])
def test_expiries_are_too_early_by_half_a_tick(tick_ms: int, expected: float) -> None:
    counts = counts_of(replace(of("exact", "all-expire"), tick_ms=tick_ms, rate=500))
    assert counts.early_most_ms == tick_ms - 1
    deviation = sqrt((tick_ms**2 - 1) / 12 / 4000)
    assert counts.early_ms / 4000 == pytest.approx(expected, abs=4 * deviation)


def test_discontinuous_buckets_wake_up_once_for_each_millisecond_with_an_expiry() -> None:
    setting = of("discontinuous")
    counts = counts_of(setting)
    expiries = {each.arrival_ms + 200 for each in setting.workload.generate()}
    assert counts.wake_ups == counts.queue_pushes == len(expiries)
    assert counts.reinserted == [0]


def test_the_old_design_pushes_every_request() -> None:
    counts = counts_of(of("old"))
    assert counts.queue_pushes == 4000
    assert counts.queue_pops - counts.popped_empty == counts.expired


def test_the_exact_count_bounds_what_is_stale() -> None:
    """Allow what one millisecond adds above the interval."""
    setting = replace(of("exact"), purge_interval=100)
    counts = counts_of(setting)
    assert counts.purges > 10
    assert 100 < counts.stale_entries.most < 100 + 3 * 40
    assert counts.over_distinct.least == 0


@pytest.mark.parametrize("keys", [1, 10, 1000])
def test_the_caller_takes_one_step_for_keys_of_its_own_and_unlinking_one_for_each(
    keys: int,
) -> None:
    own = Setting("test", "exact", "low", requests=500, layout="own", keys=keys)
    assert counts_of(own).caller_most_steps == 1
    assert counts_of(replace(own, design="proposal")).caller_most_steps == 1
    assert counts_of(replace(own, design="eager")).caller_most_steps == keys


def test_late_expiries_are_forgotten_by_the_estimate_and_not_by_the_count() -> None:
    late = replace(
        of("proposal"), layout="own", tick_ms=50, purge_interval=100, expiries="after-purge-test"
    )
    assert counts_of(late).over_distinct.least < 0
    assert counts_of(replace(late, expiries="before-purge-test")).over_distinct.least == 0
    assert counts_of(replace(late, design="exact")).over_distinct.least == 0


def test_one_request_step_by_step() -> None:
    setting = Setting("test", "proposal", "low", requests=1, layout="own", keys=1)
    counts = run(iter([Request(0, 50)]), CountedDesign(setting))
    assert counts == Counts(
        completed=1,
        virtual_ms=50,
        inserted=[0, 1],
        reinserted=[0, 0],
        queue_pushes=1,
        queue_steps=1,
        events=1,
        caller_steps=1,
        caller_most_steps=1,
        live=Range(0, 1, 50),
        entries=Range(0, 1, 50),
        queued=Range(0, 1, 50),
    )


def test_one_request_that_expires() -> None:
    setting = Setting("test", "exact", "low", requests=1, layout="own", keys=2)
    counts = run(iter([Request(7, None)]), CountedDesign(setting))
    assert (counts.completed, counts.expired, counts.virtual_ms) == (0, 1, 207)
    assert (counts.wake_ups, counts.polls) == (2, 0)
    assert counts.reinserted == [0, 1]
