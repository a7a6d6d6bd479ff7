"""The counted parts count what plain lists and queues hold, in whole runs of every design."""

from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from purgatory_lab.studies import designs
from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.designs import CountedDesign
from purgatory_lab.studies.key_layouts import Layout
from purgatory_lab.studies.setting import DesignName, Setting
from purgatory_lab.studies.simulation import run
from purgatory_lab.studies.timers import NO_LEVELS, RequestQueue, WheelTimer

from .plain_parts import PlainBuckets, PlainLists, PlainQueue

COUNTED: tuple[DesignName, ...] = ("old", "proposal", "exact", "discontinuous", "weak", "eager")
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


def counts_of(setting: Setting) -> Counts:
    return run(setting.workload.generate(), CountedDesign(setting))


def small(design: DesignName, layout: Layout) -> Setting:
    return Setting(
        "test",
        design,
        "low",
        requests=150,
        rate=500,
        layout=layout,
        keys=3,
        key_space=7,
        purge_interval=12,
        collection_ms=37,
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("design", COUNTED)
def test_lists_as_counts_are_the_lists(
    design: DesignName, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = small(design, layout)
    counted = counts_of(setting)
    monkeypatch.setattr(designs, "watcher_counts", PlainLists)
    assert counts_of(setting) == counted
    assert counted.completed + counted.expired == setting.requests
    assert counted.purges > 0 or design == "eager"


@pytest.mark.parametrize("interval", [0, 12, 60])
@pytest.mark.parametrize("rate", [20, 500, 5000])
def test_the_old_queue_skips_what_a_plain_one_removes(
    rate: int, interval: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = replace(small("old", "drawn"), rate=rate, purge_interval=interval)
    counted = counts_of(setting)
    monkeypatch.setattr(designs, "RequestQueue", PlainQueue)
    assert counts_of(setting) == counted


@pytest.mark.parametrize("tick_ms", [1, 7, 60])
def test_discontinuous_buckets_are_ticks(tick_ms: int) -> None:
    random = Random(tick_ms)
    counts = Counts()
    timer, plain = WheelTimer(counts, tick_ms, NO_LEVELS), PlainBuckets(tick_ms)
    waiting: list[int] = []
    for request in range(600):
        now_ms = request * 2
        expired = timer.advance(now_ms)
        assert expired == plain.advance(now_ms)
        waiting = [each for each in waiting if each not in expired]
        expiry_ms = now_ms + random.randrange(400)
        waits = timer.add(request, expiry_ms)
        assert plain.add(request, expiry_ms) == waits
        waiting += [request] * waits
        if waiting and random.random() < 0.5:
            removed = waiting.pop(random.randrange(len(waiting)))
            timer.remove(removed)
            plain.remove(removed)
        assert timer.queued == plain.queued
        assert timer.next_due_ms == plain.next_due_ms
    assert counts.queue_pops == plain.popped.total() > 0
    assert counts.popped_empty == plain.popped[True]
    assert counts.queue_pushes == counts.queue_pops + timer.queued


def test_control_a_walk_that_drops_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(PlainLists):
        def walk(self, request: int) -> int:
            return len(self._lists.get(self._event_keys[request], []))

    setting = small("proposal", "drawn")
    counted = counts_of(setting)
    monkeypatch.setattr(designs, "watcher_counts", Forgetful)
    assert counts_of(setting) != counted


def test_control_a_queue_that_purges_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hoarding(RequestQueue):
        def purge(self) -> int:
            return 0

    setting = small("old", "drawn")
    counted = counts_of(setting)
    monkeypatch.setattr(designs, "RequestQueue", Hoarding)
    assert counts_of(setting) != counted


def test_control_a_wheel_is_no_discontinuous_timer() -> None:
    timer, plain = WheelTimer(Counts(), 1, 20), PlainBuckets(1)
    for request in range(10):
        timer.add(request, 100 + request)
        plain.add(request, 100 + request)
    assert timer.queued != plain.queued
