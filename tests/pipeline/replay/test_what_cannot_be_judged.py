"""A run that could not have refuted a rule is inconclusive, and its row counts what was open."""

import msgspec
import pytest

from purgatory_pipeline.results.rows import VerdictRow
from purgatory_pipeline.traces.lines import (
    Begin,
    Instance,
    MemoryPoolInstance,
    PurgatoryInstance,
    TimerInstance,
)
from purgatory_spec.operations import Add, Allocate, Check, Operation, Shutdown, Watch
from purgatory_spec.profiles import MemoryPoolConfiguration, Observable, TimerProfile

from .simulation.judged import verdict_of
from .wall_clock import Line, at_once, begin, call, end, event, returns

TIMER = TimerInstance(profile=TimerProfile(observables=frozenset({Observable.SIZE})))
PURGATORY = PurgatoryInstance()
POOL = MemoryPoolInstance(MemoryPoolConfiguration(size_bytes=9, max_single_bytes=9))


def verdict(instance: Instance, *lines: Line) -> VerdictRow:
    """The verdict on a run with a lateness of 20 ms."""
    of_run: list[Begin | Line] = [begin(instance), *lines]
    return verdict_of(
        [msgspec.structs.replace(each, seq=seq, run="simulated") for seq, each in enumerate(of_run)]
    )


def ran(task: str, at_ms: int) -> Line:
    return event(at_ms, "executor", "ran", task)


def adds(*tasks: str) -> list[Line]:
    return [line for task in tasks for line in at_once(0, Add(task, 10))]


def watched(name: str) -> list[Line]:
    return [
        call(0, "main", Watch(name, ("k",), 10)),
        event(0, "main", "tried", name),
        event(0, "main", "tried", name),
        returns(0, "main", False),
    ]


@pytest.mark.parametrize(
    ("instance", "lines", "rule"),
    [(TIMER, adds("a", "b"), "TIMER-NOT-LATE"), (PURGATORY, watched("o"), "PURGATORY-TIME-OUT")],
    ids=["timer", "purgatory"],
)
@pytest.mark.parametrize("is_shut_down", [False, True])
def test_a_run_that_is_shorter_than_its_lateness_and_shows_no_expiry_is_inconclusive(
    instance: Instance, lines: list[Line], rule: str, is_shut_down: bool
) -> None:
    """When the run is judged, it is inconclusive, names the rule, and counts what was awaited."""
    shutdown = at_once(25, Shutdown()) if is_shut_down else []
    row = verdict(instance, *lines, *shutdown, end(25))
    assert (row.verdict, rule in row.reason) == ("inconclusive", True), row
    assert row.pending_expiries == (2 if instance is TIMER else 1)


def test_the_same_run_goes_on_and_diverges() -> None:
    """Given the same run, which goes on until its expiries are overdue: it diverges."""
    assert verdict(TIMER, *adds("a", "b"), end(200)).verdict == "diverges"


def test_one_expiry_that_could_be_judged_is_sufficient() -> None:
    """When the run is judged, it conforms, and counts the awaited one."""
    rest = at_once(100, Add("b", 10))
    row = verdict(TIMER, *adds("a"), ran("a", 12), *rest, end(105))
    assert (row.verdict, row.pending_expiries, row.reason) == ("conforms", 1, "")


def test_a_shutdown_before_the_expiries_are_due_leaves_nothing_open() -> None:
    """When the run is judged, it conforms: nothing had to expire."""
    row = verdict(TIMER, *adds("a"), *at_once(5, Shutdown()), end(6))
    assert (row.verdict, row.pending_expiries) == ("conforms", 0)


def test_what_runs_while_the_timer_is_shut_down_is_not_counted() -> None:
    """When the run is judged, nothing was awaited."""
    row = verdict(TIMER, *adds("a"), *at_once(12, Shutdown()), ran("a", 12), end(13))
    assert (row.verdict, row.pending_expiries) == ("conforms", 0)


@pytest.mark.parametrize(
    ("instance", "operation", "result"),
    [
        (TIMER, Shutdown(), None),
        (PURGATORY, Check("k"), 0),
        (POOL, Allocate("a", 1), True),
    ],
    ids=["timer", "purgatory", "memory pool"],
)
def test_a_lost_return_is_found_for_every_component(
    instance: Instance, operation: Operation, result: bool | int | None
) -> None:
    """When both are judged, the one conforms, the other is inconclusive and counts the call."""
    whole = verdict(instance, call(0, "t", operation), returns(0, "t", result), end(1))
    assert (whole.verdict, whole.open_calls) == ("conforms", 0)
    row = verdict(instance, call(0, "t", operation), end(1))
    assert (row.verdict, row.open_calls) == ("inconclusive", 1)
    assert row.reason.startswith("1 call never returned")
    assert "'t'" in row.reason


def test_observables_that_are_not_compared_are_named() -> None:
    """When its run is judged, the row names the observable."""
    assert verdict(TIMER, *at_once(0, Shutdown()), end(1)).uncompared == ("size",)
