"""Time-outs on a real clock: none comes before its time, each in whatever thread."""

from itertools import chain

import pytest

from purgatory_pipeline.linearizability.checker import Answered, Finding
from purgatory_pipeline.linearizability.words import Words
from purgatory_pipeline.traces.lines import PurgatoryInstance, Snapshot, TraceLine, WaitingOperation
from purgatory_spec.operations import CancelForKey, Check, Force, Satisfy, Watch
from purgatory_spec.outcomes import EventKind, completed, tried
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile, Rounding

from .known_history import WALL
from .known_purgatories import EXACT_THREAD
from .traces import back, call, event, found_of, located, step

COMPLETED, TIMED_OUT = EventKind.COMPLETED, EventKind.TIMED_OUT
KAFKA = PurgatoryInstance()


def watched(name: str, at_ms: int | None, *keys: str, delay_ms: int = 100) -> TraceLine:
    """An operation that is watched, and waits."""
    watch = Watch(name, keys, delay_ms)
    return step("w", watch, False, tried(name), tried(name), at_ms=at_ms)


def times_out(name: str, at_ms: int | None, thread: str = "timer") -> tuple[TraceLine, ...]:
    """It times out, in a thread of the executor."""
    return event(thread, COMPLETED, name, at_ms), event(thread, TIMED_OUT, name, at_ms)


def found_on_real_clock(*lines: TraceLine, instance: PurgatoryInstance = KAFKA) -> Finding:
    """What is found of a run."""
    return found_of(located(instance, lines, clock=WALL, at_ms=500))


def wrong_at(*lines: TraceLine, instance: PurgatoryInstance = KAFKA) -> int | None:
    """The first line that cannot be explained."""
    finding = found_on_real_clock(*lines, instance=instance)
    if finding.answered is Answered.LINEARIZABLE:
        return None
    assert finding.answered is Answered.NOT_LINEARIZABLE, finding.reason
    return finding.shares[0].fails_at


@pytest.mark.parametrize("instance", [KAFKA, EXACT_THREAD], ids=["proposal", "exact"])
@pytest.mark.parametrize(
    ("checked_ms", "wrong"), [(12, 3), (109, 3), (110, None), (120, None), (None, None)]
)
def test_a_time_out_does_not_explain_what_returned_before_its_time(
    instance: PurgatoryInstance, checked_ms: int | None, wrong: int | None
) -> None:
    """The check cannot be explained in the first case alone: it should have completed it."""
    lines = (watched("a", 10, "k"), step("t", Satisfy("a"), at_ms=11))
    check = step("t", Check("k"), 0, at_ms=checked_ms)
    assert wrong_at(*lines, check, *times_out("a", 121), instance=instance) == wrong


@pytest.mark.parametrize(("at_ms", "wrong"), [(109, 3), (110, None), (400, None)])
def test_a_time_out_that_comes_before_its_time_is_wrong(at_ms: int, wrong: int | None) -> None:
    """Given an operation that may time out from 110 ms on: the first cannot be explained."""
    assert wrong_at(watched("a", 10, "k"), *times_out("a", at_ms)) == wrong


def test_the_earliest_time_is_rounded_as_the_timer_rounds() -> None:
    """That is in order where expiries are rounded down, and wrong where they are rounded up."""
    ticks = PurgatoryConfiguration(tick_ms=20)
    down = PurgatoryInstance(configuration=ticks)
    up = PurgatoryInstance(ticks, PurgatoryProfile(rounding=Rounding.UP))
    lines = (watched("a", 10, "k"), *times_out("a", 100))
    assert wrong_at(*lines, instance=down) is None
    assert wrong_at(*lines, instance=up) == 3


@pytest.mark.parametrize("instance", [KAFKA, EXACT_THREAD], ids=["proposal", "exact"])
@pytest.mark.parametrize(("cancelled_ms", "wrong"), [(50, 4), (115, None)])
def test_who_cancels_in_time_is_not_too_late(
    instance: PurgatoryInstance, cancelled_ms: int, wrong: int | None
) -> None:
    """That is wrong if the cancellation returned before, and in order if it came too late."""
    cancelled = step("t", CancelForKey("k"), ("a",), at_ms=cancelled_ms)
    lines = (watched("a", 10, "k"), cancelled, *times_out("a", 121))
    assert wrong_at(*lines, instance=instance) == wrong


def test_what_is_handed_over_before_it_is_cancelled_may_run_much_later() -> None:
    """It is explained: it was handed over, then cancelled, then run."""
    lines = (
        watched("b", 10, "other"),
        call("t", Watch("a", ("k",), 0), 20),
        event("t", EventKind.TRIED, "a", 20),
        step("u", CancelForKey("k"), ("a",), at_ms=30),
        event("t", EventKind.TRIED, "a", 31),
        back("t", False, 32),
        *times_out("b", 121, "e"),
        *times_out("a", 122, "e"),
    )
    assert wrong_at(*lines, instance=EXACT_THREAD) is None


def test_a_name_may_stand_for_several_threads() -> None:
    """The first is wrong in the thread of that name, and the second is in order."""
    begun = (watched("a", 10, "k"), watched("b", 10, "l"))
    first, last = times_out("a", 120, "executor")
    lines = (first, *times_out("b", 121, "executor"), last)
    assert wrong_at(*begun, *lines) is None
    forced = step("t", Force("a"), True, completed("a"), at_ms=50)
    finding = found_on_real_clock(*begun, forced, *lines)
    assert finding.answered is Answered.NOT_LINEARIZABLE
    assert finding.shares[0].name == "a"


def test_one_that_is_completed_twice_by_one_thread_is_wrong() -> None:
    """When the run is checked, it is not linearizable."""
    once, last = times_out("a", 120)
    assert wrong_at(watched("a", 10, "k"), once, last) is None
    assert wrong_at(watched("a", 10, "k"), once, once, last) == 4


def many(count: int) -> list[TraceLine]:
    """So many operations under one key, of which each times out in a thread of its own."""
    told = [
        (
            watched(f"{each}", 10 * each, "k"),
            *times_out(f"{each}", 10 * each + 101, f"timer {each}"),
        )
        for each in range(count)
    ]
    return [*chain.from_iterable(told)]


def test_work_grows_with_the_number_of_time_outs_though_each_has_a_thread_of_its_own() -> None:
    """When they are checked, the longer one takes twice the configurations."""
    spent = []
    for count in (100, 200):
        finding = found_on_real_clock(*many(count))
        assert finding.answered is Answered.LINEARIZABLE, finding.reason
        assert finding.configurations < 20 * count
        spent.append(finding.configurations)
    assert spent[1] == 2 * spent[0]


def test_a_run_that_begins_in_the_middle_goes_by_the_times_of_its_snapshot() -> None:
    """When it times out before that, and after, the first is wrong."""
    waiting = WaitingOperation(
        operation="a", entries=("k",), delay_ms=100, early_ms=300, late_ms=301
    )
    snapshot = Snapshot(run="", seq=0, at_ns=200_000_000, operations=(waiting,))
    for at_ms, answered in (
        (299, Answered.NOT_LINEARIZABLE),
        (300, Answered.LINEARIZABLE),
    ):
        lines = [snapshot, *times_out("a", at_ms)]
        finding = found_of(located(KAFKA, lines, clock=WALL, first=7, at_ms=500))
        assert finding.answered is answered, finding.reason


def test_of_a_time_out_that_comes_too_early_it_is_said_when_it_is_due() -> None:
    """Of the first it is said when it came and is due, and of the second it is not."""
    early = Words(found_on_real_clock(watched("a", 10, "k"), *times_out("a", 109)))
    assert any("told at 109 ms, and is due from 110 ms on" in each for each in early.details())
    forced = step("t", Force("a"), True, completed("a"), at_ms=50)
    late = Words(found_on_real_clock(watched("a", 10, "k"), forced, *times_out("a", 111)))
    assert list(late.details())
    assert not any("is due" in each for each in late.details())
