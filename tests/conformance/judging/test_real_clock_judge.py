"""On a real clock expiries are judged as intervals: never early, and late only as declared."""

import pytest

from purgatory_conformance.judging.real_clock_judge import RealClockJudge
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Clock, Feature, TimerConfiguration, TimerProfile

PROFILE = TimerProfile(
    clock=Clock.WALL, lateness_ms=20, features=frozenset({Feature.CANCEL, Feature.READD})
)


def seen(called_ms: int, returned_ms: int, **ran_at: int) -> Outcome:
    events = tuple(Event(EventKind.RAN, task, at_ms=at) for task, at in ran_at.items())
    return Outcome(events=events, called_ms=called_ms, returned_ms=returned_ms)


def judged(*steps: tuple[Operation, Outcome], tick_ms: int = 1) -> str | None:
    judge = RealClockJudge(TimerConfiguration(tick_ms), PROFILE)
    for operation, outcome in steps:
        divergence = judge.step(operation, outcome).divergence
        if divergence:
            return divergence.rule
    return None


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        (149, "TIMER-NOT-EARLY"),
        (150, None),
        (172, None),
        (173, "TIMER-LATENESS"),
    ],
)
def test_a_run_is_right_within_its_interval(at: int, rule: str | None) -> None:
    """
    Given a task of 50 ms added between 100 and 102, and a lateness of 20 ms
    When it runs at one of the edges
    Then 150 to 172 is right, earlier breaks a MUST and later a SHOULD
    """
    add = (Add("a", 50), seen(100, 102))
    assert judged(add, (Wait(200), seen(102, 302, a=at))) == rule


def test_a_run_may_be_early_within_the_tick() -> None:
    """
    Given the same task on a tick of 10 ms added at 101
    When it runs at 150, before its 51 ms have passed
    Then that is the early window of rounding down
    """
    add = (Add("a", 50), seen(101, 101))
    assert judged(add, (Wait(200), seen(102, 302, a=150)), tick_ms=10) is None
    assert judged(add, (Wait(200), seen(102, 302, a=149)), tick_ms=10) == "TIMER-NOT-EARLY"


def test_a_task_that_never_runs_is_late() -> None:
    """
    Given an armed task
    When a reply comes after its interval without its run
    Then it is late
    """
    assert judged((Add("a", 50), seen(100, 100)), (Wait(9), seen(100, 171))) == "TIMER-LATENESS"


def test_a_cancelled_task_must_not_run() -> None:
    """
    Given a task that is cancelled well before it is due
    When it runs
    Then the cancel was broken; twice cancelled, then added, it must run
    """
    add, cancel = (Add("a", 50), seen(100, 100)), (Cancel("a"), seen(110, 110))
    assert judged(add, cancel, (Wait(99), seen(110, 250, a=150))) == "TIMER-CANCEL"
    assert judged(add, cancel, (Wait(99), seen(110, 250))) is None
    again = (Add("a", 50), seen(120, 120))
    assert judged(add, cancel, again, (Wait(99), seen(120, 250, a=170))) is None
    assert judged(add, cancel, again, (Wait(99), seen(120, 250, a=150))) == "TIMER-NOT-EARLY"


def test_a_cancel_that_races_with_the_run_leaves_both_open() -> None:
    """
    Given a task that is cancelled when it may already have run
    When it is reported to have run, or not
    Then both are right, once
    """
    add, cancel = (Add("a", 50), seen(100, 100)), (Cancel("a"), seen(149, 151))
    assert judged(add, cancel, (Wait(99), seen(151, 300))) is None
    assert judged(add, cancel, (Wait(99), seen(151, 300, a=150))) is None
    late_report = (Wait(9), seen(300, 310, a=150))
    twice = (add, cancel, (Wait(99), seen(151, 300, a=150)), late_report)
    assert judged(*twice) == "TIMER-CANCEL"


def test_a_second_run_of_one_arming_is_a_divergence() -> None:
    """
    Given a task that ran
    When it runs again without having been added
    Then it did not run exactly once
    """
    steps = ((Add("a", 5), seen(100, 100)), (Wait(9), seen(100, 109, a=105)))
    assert judged(*steps, (Wait(9), seen(110, 120, a=115))) == "TIMER-EXACTLY-ONCE"
