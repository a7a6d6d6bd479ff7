"""Time-outs on a real clock: none comes before its time, each in whatever thread."""

from itertools import chain

from purgatory_spec.operations import Force, Watch
from purgatory_spec.outcomes import EventKind, completed, tried
from purgatory_traces.linearizability.checker import Answered, Finding
from purgatory_traces.linearizability.words import Words
from purgatory_traces.traces.lines import PurgatoryInstance, TraceLine

from .traces import WALL, event, found_of, located, step

COMPLETED, TIMED_OUT = EventKind.COMPLETED, EventKind.TIMED_OUT
KAFKA = PurgatoryInstance()


def watched(name: str, at_ms: int | None, *keys: str, delay_ms: int = 100) -> TraceLine:
    """An operation that is watched, and waits."""
    watch = Watch(name, keys, delay_ms)
    return step("w", watch, False, tried(name), tried(name), at_ms=at_ms)


def times_out(name: str, at_ms: int | None, thread: str = "timer") -> tuple[TraceLine, ...]:
    """Tell of a time-out in a thread of the executor."""
    return event(thread, COMPLETED, name, at_ms), event(thread, TIMED_OUT, name, at_ms)


def found_on_real_clock(*lines: TraceLine, instance: PurgatoryInstance = KAFKA) -> Finding:
    """Return what is found of a run."""
    return found_of(located(instance, lines, clock=WALL, at_ms=500))


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
    spent = []
    for count in (100, 200):
        finding = found_on_real_clock(*many(count))
        assert finding.answered is Answered.LINEARIZABLE, finding.reason
        assert finding.configurations < 20 * count
        spent.append(finding.configurations)
    assert spent[1] == 2 * spent[0]


def test_of_a_time_out_that_comes_too_early_it_is_said_when_it_is_due() -> None:
    early = Words(found_on_real_clock(watched("a", 10, "k"), *times_out("a", 109)))
    assert any("told at 109 ms, and is due from 110 ms on" in each for each in early.details())
    forced = step("t", Force("a"), True, completed("a"), at_ms=50)
    late = Words(found_on_real_clock(watched("a", 10, "k"), forced, *times_out("a", 111)))
    assert list(late.details())
    assert not any("is due" in each for each in late.details())
