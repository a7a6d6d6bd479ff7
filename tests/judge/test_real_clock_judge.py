"""On a real clock expiries are judged as intervals: never early, and late only as declared."""

from dataclasses import replace

import msgspec
import pytest

from purgatory_conformance.running.campaign import SUITES, Verdict, run_campaign
from purgatory_conformance.subjects.bundled.real_clock import (
    bundled_real_clock_subject,
    real_clock_instance,
)
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_judge.components import not_compared
from purgatory_judge.timer.real_clock_judge import RealClockJudge
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Cancel, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

PROFILE = profiles.TimerProfile(
    clock=profiles.Clock.WALL,
    lateness_ms=20,
    features=frozenset({profiles.Feature.CANCEL, profiles.Feature.READD}),
)


def judged(*steps: tuple[Operation, Outcome], tick_ms: int = 1) -> str | None:
    judge = RealClockJudge(profiles.TimerConfiguration(tick_ms), PROFILE)
    for operation, outcome in steps:
        divergence = judge.step(operation, outcome).divergence
        if divergence:
            return divergence.rule
    return None


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


@pytest.mark.parametrize(
    ("operation", "rule"),
    [
        (Add("a", 0), "TIMER-ZERO-DELAY"),
        (Add("a", -1), "TIMER-NEGATIVE-DELAY"),
        (Add("a", 1), "TIMER-NOT-LATE"),
        (Cancel("a"), "TIMER-NOT-LATE"),
    ],
)
def test_a_rejection_is_named_by_the_sign_of_the_delay(operation: Operation, rule: str) -> None:
    outcome = Outcome(rejected=Reason.INVALID_ARGUMENT, called_ms=5, returned_ms=5)
    assert judged((operation, outcome)) == rule


def test_the_observables_that_nobody_compares_are_named() -> None:
    """Given a profile with three observables: all but the size are not compared, or none."""
    shown = frozenset(
        {profiles.Observable.SIZE, profiles.Observable.QUEUED, profiles.Observable.LEVELS}
    )
    profile = msgspec.structs.replace(PROFILE, observables=shown)
    assert not_compared(profile) == ("levels", "queued")
    assert not_compared(msgspec.structs.replace(profile, clock=profiles.Clock.MANUAL)) == ()
