"""On a real clock expiries are judged as intervals: never early, and late only as declared."""

from dataclasses import replace

import msgspec
import pytest

from purgatory_conformance.components import not_compared
from purgatory_conformance.judging.real_clock_judge import RealClockJudge
from purgatory_conformance.running.campaign import SUITES, Verdict, run_campaign
from purgatory_conformance.subjects.bundled.real_clock import (
    bundled_real_clock_subject,
    real_clock_instance,
)
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Cancel, Operation, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome

PROFILE = profiles.TimerProfile(
    clock=profiles.Clock.WALL,
    lateness_ms=20,
    features=frozenset({profiles.Feature.CANCEL, profiles.Feature.READD}),
)


def seen(called_ms: int, returned_ms: int, **ran_at: int) -> Outcome:
    events = tuple(Event(EventKind.RAN, task, at_ms=at) for task, at in ran_at.items())
    return Outcome(events=events, called_ms=called_ms, returned_ms=returned_ms)


def judged(*steps: tuple[Operation, Outcome], tick_ms: int = 1) -> str | None:
    judge = RealClockJudge(profiles.TimerConfiguration(tick_ms), PROFILE)
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
    """150 to 172 is right, earlier breaks a MUST and later a SHOULD."""
    add = (Add("a", 50), seen(100, 102))
    assert judged(add, (Wait(200), seen(102, 302, a=at))) == rule


def test_a_run_may_be_early_within_the_tick() -> None:
    """That is the early window of rounding down."""
    add = (Add("a", 50), seen(101, 101))
    assert judged(add, (Wait(200), seen(102, 302, a=150)), tick_ms=10) is None
    assert judged(add, (Wait(200), seen(102, 302, a=149)), tick_ms=10) == "TIMER-NOT-EARLY"


def test_a_task_that_never_runs_is_late() -> None:
    """Given an armed task, when a reply comes after its interval without its run, it is late."""
    assert judged((Add("a", 50), seen(100, 100)), (Wait(9), seen(100, 171))) == "TIMER-LATENESS"


def test_a_cancelled_task_must_not_run() -> None:
    """When it runs, the cancel was broken; twice cancelled, then added, it must run."""
    add, cancel = (Add("a", 50), seen(100, 100)), (Cancel("a"), seen(110, 110))
    assert judged(add, cancel, (Wait(99), seen(110, 250, a=150))) == "TIMER-CANCEL"
    assert judged(add, cancel, (Wait(99), seen(110, 250))) is None
    again = (Add("a", 50), seen(120, 120))
    assert judged(add, cancel, again, (Wait(99), seen(120, 250, a=170))) is None
    assert judged(add, cancel, again, (Wait(99), seen(120, 250, a=150))) == "TIMER-NOT-EARLY"


def test_a_cancel_that_races_with_the_run_leaves_both_open() -> None:
    """Given a task that is cancelled when it may already have run: both are right, once."""
    add, cancel = (Add("a", 50), seen(100, 100)), (Cancel("a"), seen(149, 151))
    assert judged(add, cancel, (Wait(99), seen(151, 300))) is None
    assert judged(add, cancel, (Wait(99), seen(151, 300, a=150))) is None
    late_report = (Wait(9), seen(300, 310, a=150))
    twice = (add, cancel, (Wait(99), seen(151, 300, a=150)), late_report)
    assert judged(*twice) == "TIMER-CANCEL"


def test_a_second_run_of_one_arming_is_a_divergence() -> None:
    """Given a task that ran: it did not run exactly once."""
    steps = ((Add("a", 5), seen(100, 100)), (Wait(9), seen(100, 109, a=105)))
    assert judged(*steps, (Wait(9), seen(110, 120, a=115))) == "TIMER-EXACTLY-ONCE"


SIZED = msgspec.structs.replace(PROFILE, observables=frozenset({profiles.Observable.SIZE}))


def sized(size: object, outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, observed={"size": size})


@pytest.mark.parametrize(
    ("size", "next_called_ms", "rule", "is_visited"),
    [
        (1, 149, None, True),
        (0, 149, "TIMER-SIZE", False),
        (2, 149, "TIMER-SIZE", False),
        (1, 150, None, False),
        (0, 150, None, False),
        (2, 150, "TIMER-SIZE", False),
        (True, 149, "TIMER-SIZE", False),
    ],
)
def test_a_size_is_exact_until_a_task_may_leave(
    size: object, next_called_ms: int, rule: str | None, is_visited: bool
) -> None:
    """The size is one, or at most one, and only the first puts its rule to the test."""
    judge = RealClockJudge(profiles.TimerConfiguration(1), SIZED)
    assert judge.step(Add("a", 50), sized(size, seen(100, 100))).divergence is None
    later = judge.step(Wait(1), sized(1, seen(next_called_ms, next_called_ms)))
    assert (later.divergence.rule if later.divergence else None) == rule
    assert ("TIMER-SIZE" in later.visited) == is_visited


@pytest.mark.parametrize(
    ("size", "ran_at_ms", "rule"),
    [
        (0, 99, None),
        (1, 99, "TIMER-SIZE"),
        (0, 100, None),
        (1, 100, None),
        (2, 100, "TIMER-SIZE"),
        (1, 101, None),
    ],
)
def test_a_task_that_ran_as_the_size_was_read_counts_or_not(
    size: int, ran_at_ms: int, rule: str | None
) -> None:
    """The task counts or not, unless its run was before."""
    judge = RealClockJudge(profiles.TimerConfiguration(1), SIZED)
    added = seen(99, 100, a=ran_at_ms)
    assert judge.step(Add("a", 0), sized(size, added)).divergence is None
    later = judge.step(Wait(1), sized(0, seen(110, 111)))
    assert (later.divergence.rule if later.divergence else None) == rule


class OffByOne:
    """The bundled timer on the real clock, with a size that is one too large."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def do(self, operation: Operation) -> Outcome:
        outcome = self.instance.do(operation)
        size = outcome.observed["size"]
        assert isinstance(size, int)
        return msgspec.structs.replace(outcome, observed={"size": size + 1})

    def close(self) -> None:
        self.instance.close()


def test_a_size_that_is_off_by_one_is_not_conformant() -> None:
    """When it is judged, it is not conformant by the rule of the size, the first add shows it."""
    right = bundled_real_clock_subject()
    subject = InProcessSubject(
        right.implementation,
        right.profiles,
        lambda configuration: OffByOne(real_clock_instance(configuration)),
    )
    budget = replace(SUITES["quick"], least_cases=2, most_cases=2, shrink_runs=5)
    campaign = run_campaign(subject, profiles.Component.TIMER, seed=1, budget=budget, vectors=())
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    # On a busy machine a task may be late beside.
    assert {cause.rule for cause in campaign.causes} - {"TIMER-LATENESS"} == {"TIMER-SIZE"}


def test_the_observables_that_nobody_compares_are_named() -> None:
    """Given a profile with three observables: all but the size are not compared, or none."""
    shown = frozenset(
        {profiles.Observable.SIZE, profiles.Observable.QUEUED, profiles.Observable.LEVELS}
    )
    profile = msgspec.structs.replace(PROFILE, observables=shown)
    assert not_compared(profile) == ("levels", "queued")
    assert not_compared(msgspec.structs.replace(profile, clock=profiles.Clock.MANUAL)) == ()
