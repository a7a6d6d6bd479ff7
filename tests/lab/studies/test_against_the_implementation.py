"""The simulation and ``purgatory_impl`` count the same, count by count, whatever the parameters."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from purgatory_impl.bucket import Bucket
from purgatory_impl.task import Task, TimerTask
from purgatory_impl.wheel import Level, Wheel
from purgatory_lab.studies.bundled import SHOWN, BundledDesign
from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.designs import CountedDesign
from purgatory_lab.studies.key_layouts import Layout
from purgatory_lab.studies.setting import DesignName, Setting
from purgatory_lab.studies.simulation import run
from purgatory_lab.studies.timers import WheelTimer

BUNDLED: dict[DesignName, DesignName] = {"proposal": "bundled-proposal", "exact": "bundled-exact"}
LAYOUTS: tuple[tuple[Layout, int], ...] = (("drawn", 3), ("shared", 3), ("own", 1))


def shown(counts: Counts) -> dict[str, object]:
    return {name: getattr(counts, name) for name in SHOWN}


def simulated(setting: Setting) -> Counts:
    return run(setting.workload.generate(), CountedDesign(setting))


def implemented(setting: Setting) -> Counts:
    bundled = replace(setting, design=BUNDLED[setting.design])
    return run(setting.workload.generate(), BundledDesign(bundled))


@pytest.mark.parametrize("design", BUNDLED)
@pytest.mark.parametrize(("layout", "keys"), LAYOUTS)
@pytest.mark.parametrize("tick_ms", [1, 7, 300])
def test_same_counts(design: DesignName, layout: Layout, keys: int, tick_ms: int) -> None:
    for case, wheel_size, interval, rate in product(("low", "high"), (2, 20), (0, 40), (50, 2000)):
        setting = Setting(
            "test",
            design,
            "low" if case == "low" else "high",
            requests=80,
            rate=rate,
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            layout=layout,
            keys=keys,
            key_space=5,
            purge_interval=interval,
        )
        assert shown(simulated(setting)) == shown(implemented(setting)), setting


def test_control_another_order_of_purging_is_found() -> None:
    setting = Setting("test", "proposal", "high", requests=500, purge_interval=40, tick_ms=7)
    late = replace(setting, expiries="after-purge-test")
    assert shown(simulated(setting)) == shown(implemented(setting))
    assert shown(simulated(late)) != shown(implemented(setting))


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(1, 2), (1, 20), (3, 5), (10, 3)])
def test_levels_are_those_of_the_wheel(tick_ms: int, wheel_size: int) -> None:
    random = Random(tick_ms * 100 + wheel_size)
    counts = Counts()
    timer, wheel = WheelTimer(counts, tick_ms, wheel_size), CountingWheel(tick_ms, wheel_size, 0)
    tasks: dict[int, Task] = {}
    for request in range(2000):
        now_ms = request * 3
        expired: list[Task] = []
        while wheel.advance(now_ms, 100, expired):
            pass
        assert [tasks.pop(number) for number in timer.advance(now_ms)] == expired
        task = TimerTask()
        expiry_ms = now_ms + random.choice((5, 50, 500, 5000))
        waits = timer.add(request, expiry_ms)
        assert waits == wheel.first_place(task, expiry_ms)
        if waits:
            tasks[request] = task
            if random.random() < 0.3:
                removed = random.choice([*tasks])
                timer.remove(removed)
                wheel.remove(tasks.pop(removed))
        assert timer.queued == wheel.queued_buckets
        assert timer.next_due_ms == wheel.next_expiry_ms
    assert counts.queue_pops == wheel.popped_buckets
    assert Counter(dict(enumerate(counts.inserted))) == wheel.inserted
    assert Counter(dict(enumerate(counts.reinserted))) == wheel.reinserted
    assert wheel.reinserted.total() > 0


class CountingWheel(Wheel):
    """The wheel of the implementation; counts on which levels it puts tasks, and from where."""

    __slots__ = ("inserted", "reinserted")

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        super().__init__(tick_ms, wheel_size, start_ms)
        self.inserted: Counter[int] = Counter()
        self.reinserted: Counter[int] = Counter()

    def first_place(self, task: Task, expiry_ms: int) -> bool:
        waits = super().place(task, expiry_ms)
        if waits:
            self.inserted[self._level_of(task)] += 1
        return waits

    def _move_down(self, task: Task, level: Level) -> None:
        """A task comes down: from the level whose bucket is being emptied."""
        (source,) = (
            number
            for number, each in enumerate(self.all_levels())
            if any(bucket is self._emptying for bucket in each.buckets)
        )
        super()._move_down(task, level)
        self.reinserted[source] += 1

    def _level_of(self, task: Task) -> int:
        (number,) = (
            number
            for number, level in enumerate(self.all_levels())
            if any(_is_in(task, bucket) for bucket in level.buckets)
        )
        return number


def _is_in(task: Task, bucket: Bucket) -> bool:
    other = bucket.first()
    while other is not None and other is not task:
        other = bucket.behind(other)
    return other is task
