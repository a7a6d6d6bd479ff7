"""Holds are bounded by counts of steps, and a longer one is refused. No time is judged."""

import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

import purgatory_impl.chunks
from purgatory_lab.holds import purgatory_holds, stopwatch, timer_holds
from purgatory_lab.holds.__main__ import main, measure
from purgatory_lab.holds.purgatory_holds import (
    CHECK_LIVE,
    CHECK_STALE,
    FEWER,
    FEWER_LISTS,
    MORE,
    MORE_LISTS,
    ONE_KEY,
    ONE_KEY_LIVE,
)
from purgatory_lab.holds.stopwatch import (
    CollectorClock,
    Section,
    Stopwatch,
    Stopwatches,
    collector,
)
from purgatory_lab.holds.table import Row
from purgatory_lab.holds.timer_holds import (
    ADD,
    CASCADE,
    DROP,
    DUE,
    HAND_OVER,
    LIST,
    NOTHING,
    TAKE,
)
from purgatory_impl import Task
from purgatory_impl.walks import Walk
from purgatory_impl.wheel import Wheel

pytestmark = pytest.mark.verify

SIZE = 6_400
"""Six holds of a pass and a part of one; a hundred entries for each shard."""

Advance = Callable[[Wheel, int, int, list[Task]], bool]


@pytest.fixture(scope="module")
def rows() -> dict[Section, Row]:
    return {row.section: row for row in measure(SIZE, 1, CollectorClock())}


def run(size: int = SIZE) -> Result:
    return CliRunner().invoke(main, ["--size", str(size), "--rounds", "1"])


def refused(result: Result) -> set[str]:
    """The sections that the command refuses."""
    assert result.exit_code == 1, result.output
    _, _, named = result.output.partition("a hold takes more than its bound: ")
    return {each.partition(": ")[2] for each in named.strip().split("; ")}


@pytest.mark.parametrize("section", [DUE, CASCADE])
def test_a_pass_takes_its_bound_of_steps_and_no_more(
    rows: dict[Section, Row], section: Section
) -> None:
    """Given tasks in one bucket, of level 1 and of level 2.

    When a pass goes through them.
    Then there are as many holds as the bound makes necessary, for the tasks, the bucket that is
    popped and found empty, and the look at what is next; and the longest takes the bound at most.
    """
    row = rows[section]
    assert section.bound == 1024
    assert row.with_collector[0].holds == (SIZE + 3 + 1023) // 1024
    assert (row.recounted, row.most_steps) == (1024, 1024)


@pytest.mark.parametrize("section", [DUE, CASCADE])
def test_steps_of_all_holds_are_those_of_the_pass(section: Section) -> None:
    """The first holds take the bound, the last one what is left, and one after it nothing."""
    holds = timer_holds.TimerHolds(2_500)
    assert [holds.steps_of(section, hold) for hold in range(4)] == [1024, 1024, 454, 0]


@pytest.mark.parametrize(
    ("section", "places"),
    [
        (ONE_KEY, 128),
        (ONE_KEY_LIVE, 128 + 16),
        (FEWER, 7),
        (MORE, 10),
        (CHECK_STALE, 128),
        (CHECK_LIVE, 1),
    ],
)
def test_a_hold_of_the_lists_goes_through_one_chunk(
    rows: dict[Section, Row], section: Section, places: int
) -> None:
    """Where one of eight is live, a chunk's sixteen also move to the chunk before."""
    row = rows[section]
    assert section.bound == 256
    assert row.most_steps == places
    assert not row.breaks_bound


def test_what_is_not_bounded_says_so(rows: dict[Section, Row]) -> None:
    unbounded = {section: row.most_steps for section, row in rows.items() if section.bound is None}
    assert unbounded == {
        NOTHING: None,
        ADD: None,
        LIST: SIZE,
        DROP: SIZE,
        FEWER_LISTS: 16,
        MORE_LISTS: 10,
    }
    assert rows[ADD].with_collector[0].holds == SIZE


def test_the_queue_of_expired_tasks_is_held_for_one_batch(rows: dict[Section, Row]) -> None:
    for section in (HAND_OVER, TAKE):
        assert section.bound == 1024
        assert rows[section].most_steps == 1024


def test_the_command_prints_a_line_for_each_section(rows: dict[Section, Row]) -> None:
    result = run(100)
    assert result.exit_code == 0, result.output
    lines = re.findall(
        r"^\| (?:timer|executor|shard|none|timer and executor) \| ([^|]*) \|", result.output, re.M
    )
    assert lines == [section.name for section in rows]
    assert "No hold that has a bound takes more steps than that." in result.output


def test_a_pass_in_larger_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a pass that asks for 4,096 steps in a hold.

    When it is measured with 2,000 tasks, which is one hold.
    Then both kinds of pass are refused: the one whose tasks expire, and the one whose tasks only
    come down, which is seen by single steps alone.
    """
    monkeypatch.setattr(timer_holds, "STEPS_PER_HOLD", 4096)
    rows = {row.section: row for row in measure(2_000, 1, CollectorClock())}
    assert rows[DUE].most_steps == 2_001
    assert rows[CASCADE].with_collector[0].most_steps == 1
    assert rows[CASCADE].most_steps == 2_002
    # Nobody puts fewer tasks into the queue than a pass hands over.
    assert refused(run(2_000)) == {DUE.name, CASCADE.name, HAND_OVER.name, TAKE.name}


@pytest.mark.pure
def test_a_wheel_that_ignores_the_number_of_steps_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    advance: Advance = Wheel.advance

    def unbounded(wheel: Wheel, now_ms: int, steps: int, expired: list[Task]) -> bool:
        return advance(wheel, now_ms, 10**9, expired)

    monkeypatch.setattr(Wheel, "advance", unbounded)
    result = run()
    assert result.exit_code == 1
    assert f"{CASCADE.name}: 6,400 tasks were gone through in 0 single steps" in result.output


@pytest.mark.pure
def test_a_timer_that_asks_for_more_steps_than_it_says_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a timer whose own passes take twice the steps; the holds driven here are right."""
    monkeypatch.setattr("purgatory_impl.timer._STEPS_PER_HOLD", 2048)
    assert refused(run()) == {DUE.name}


@pytest.mark.pure
def test_a_larger_chunk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purgatory_impl.chunks, "CHUNK", 300)
    assert refused(run()) == {ONE_KEY.name, ONE_KEY_LIVE.name, CHECK_STALE.name}


def test_a_purge_that_removes_less_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given walks that say that they have removed one entry less."""
    removed_by = purgatory_holds._removed_by

    def one_less(walk: Walk[int], watch: Stopwatch, passes_live: bool) -> int:
        return removed_by(walk, watch, passes_live) - 1

    monkeypatch.setattr(purgatory_holds, "_removed_by", one_less)
    result = run(100)
    assert result.exit_code == 1
    assert "99 entries instead of 100" in result.output


@pytest.mark.parametrize(
    ("counted", "recounted", "refuses"),
    [(None, None, True), (10, None, False), (11, None, True), (10, 11, True), (None, 10, False)],
)
def test_a_bound_is_broken_by_more_steps_and_by_none_counted(
    counted: int | None, recounted: int | None, refuses: bool
) -> None:
    watch = Stopwatch(CollectorClock())
    if counted is not None:
        watch.count(counted)
    section = Section("tested", "none", "steps", 10)
    assert Row(section, [watch], [watch], recounted).breaks_bound is refuses
    assert not Row(replace(section, bound=None), [watch], [watch], recounted).breaks_bound


def test_the_collectors_part_of_a_hold_is_told() -> None:
    """Given a section in which the collector runs, and a longer one in which it does not.

    When both are timed.
    Then the first one's time is in part the collector's, the second one's is not.
    """
    clock = CollectorClock()
    with collector(False, clock):
        assert not gc.isenabled()
        with_it, without_it = Stopwatch(clock), Stopwatch(clock)
        with_it.timed(gc.collect)
        without_it.timed(sum, range(1000))
    assert 0 < with_it.collector_ns <= with_it.longest_ns
    assert without_it.collector_ns == 0 < without_it.longest_ns
    assert (clock.runs, clock.spent_ns) == (1, clock.longest_ns)
    assert gc.isenabled()
    assert clock not in gc.callbacks


@pytest.fixture
def _eager_collector() -> Iterator[None]:
    """A collector that runs after every few objects."""
    thresholds = gc.get_threshold()
    gc.set_threshold(5)
    yield
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("_eager_collector")
def test_the_collector_runs_in_holds_of_a_purge_and_is_seen() -> None:
    """Given purges and a collector that runs often.

    When it is measured with the collector and without.
    Then part of the time of its holds is the collector's in the first case alone.
    """
    holds = purgatory_holds.PurgatoryHolds(2_000)
    seen: dict[bool, tuple[int, int]] = {}
    for runs in (True, False):
        clock = CollectorClock()
        watches = Stopwatches(clock)
        with collector(runs, clock):
            holds.measure(watches)
        seen[runs] = clock.runs, watches.of(MORE).collector_ns
    assert min(seen[True]) > 0
    assert seen[False] == (0, 0)


def test_the_longest_hold_is_remembered_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given three holds of 10, 30 and 20 ns by the clock.

    When they are timed.
    Then the second one is the longest, and they took 60 ns in all.
    """
    readings = iter([0, 10, 100, 130, 200, 220])
    monkeypatch.setattr(stopwatch, "perf_counter_ns", readings.__next__)
    watch = Stopwatch(CollectorClock())
    for terms in ([1], [2], [3]):
        assert watch.timed(sum, terms) == terms[0]
    assert (watch.holds, watch.total_ns) == (3, 60)
    assert (watch.longest_ns, watch.longest_at) == (30, 1)
