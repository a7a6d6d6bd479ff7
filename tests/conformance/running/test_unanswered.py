"""A subject that hangs or dies in an operation breaks a rule; one that is slow does not."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from purgatory_conformance.running.campaign import SUITES, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.running.unanswered import Slow, Unanswered, is_unanswered, told
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure, profile_of
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, TimerConfiguration
from tests.conformance.hanging_subjects import crowded, loops, waits_for_a_lock, walks

BUDGET = replace(SUITES["quick"], least_cases=30, most_cases=30)
TICK = TimerConfiguration()


def campaign_of(subject: GuardedSubject | InProcessSubject) -> Campaign:
    return run_campaign(subject, Component.TIMER, seed=1, budget=BUDGET)


@pytest.mark.parametrize("make", [waits_for_a_lock, loops])
def test_a_subject_that_hangs_has_broken_the_rule_of_the_operation(
    make: Callable[[], InProcessSubject],
) -> None:
    subject = GuardedSubject(make(), 1.0)
    campaign = campaign_of(subject)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    (cause,) = campaign.causes
    assert (cause.rule, cause.kind, cause.steady) == ("TIMER-CANCEL", "hung", True)
    *added, cancelled = cause.shrunk.steps
    assert [type(step.operation) for step in added] == [Add, Add]
    assert isinstance(cancelled.operation, Cancel)
    assert cancelled.outcome is None
    (failure,) = campaign.failures
    assert "hanging_subjects.py" in failure.standard_error
    assert subject.time_limit_seconds == 1.0


class Dying(InProcessSubject):
    """The bundled timer, in a process that dies in every cancel of a known task."""

    def __init__(self, deaths: int) -> None:
        inner = bundled_subject()
        super().__init__(inner.implementation, inner.profiles, inner._make)
        self.deaths = deaths

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        known: set[str] = set()
        for operation in operations:
            if isinstance(operation, Add):
                known.add(operation.task)
            if isinstance(operation, Cancel) and operation.task in known and self.deaths:
                self.deaths -= 1
                raise SubjectFailure(FailureKind.CRASHED, "it was ended by SIGSEGV")
            yield from super().do_all([operation])


def test_a_subject_that_dies_has_broken_the_rule_of_the_operation() -> None:
    campaign = campaign_of(Dying(10**9))
    (cause,) = campaign.causes
    assert (campaign.verdict, cause.rule, cause.kind) == (
        Verdict.NOT_CONFORMANT,
        "TIMER-CANCEL",
        "died",
    )
    assert [type(step.operation) for step in cause.shrunk.steps] == [Add, Cancel]


def test_a_death_that_does_not_repeat_is_a_failure_of_the_subject() -> None:
    campaign = campaign_of(Dying(1))
    assert (campaign.verdict, campaign.causes) == (Verdict.SUBJECT_FAILED, [])


def test_a_subject_that_walks_is_slow_and_conforms() -> None:
    """Far advances end where they are less far."""
    subject = GuardedSubject(walks(), 1.0)
    far = (Add("a", 5), Advance(2**31))
    run = run_case(subject, "far", TICK, far)
    assert is_unanswered(run)
    found = Unanswered(subject).cause(run)
    assert isinstance(found, Slow)
    assert "slow, not hung: advance to " in found.words


def test_a_subject_that_is_slow_in_a_crowd_conforms() -> None:
    """It is looked at for some times the limit of a step, however long all its steps take."""
    subject = GuardedSubject(crowded(), 0.4)
    run = run_case(subject, "crowd", TICK, [Add(f"t{n}", 5) for n in range(80)])
    assert is_unanswered(run)
    began = time.monotonic()
    found = Unanswered(subject).cause(run)
    assert isinstance(found, Slow)
    assert "slow, not hung: add t" in found.words
    assert time.monotonic() - began < 100 * 0.4


def test_a_slow_step_leaves_its_case_out() -> None:
    subject = GuardedSubject(walks(), 0.5)
    silence = Unanswered(subject)
    run = run_case(subject, "far", TICK, (Advance(2**31),))
    found = silence.cause(run)
    assert isinstance(found, Slow)
    left_out = silence.left_out(run, found)
    assert (left_out.verdict, left_out.failure) == (CaseVerdict.UNSUPPORTED, None)
    assert left_out.refused == found.words
    assert subject.time_limit_seconds < 0.5


def test_the_last_rule_that_an_operation_tests_is_named() -> None:
    """An advance in which a task that is due would add another: that is what it is about."""
    failing = GuardedSubject(Silent(), 0.5)
    run = run_case(failing, "due", TICK, (Add("a", 5), Advance(7)))
    shown = told(run, profile_of(failing, Component.TIMER))
    assert shown.breaks("TIMER-EXACTLY-ONCE")
    assert shown.steps[-1].outcome is None


class Silent(InProcessSubject):
    """The bundled timer, which waits in every advance."""

    def __init__(self) -> None:
        inner = bundled_subject()
        super().__init__(inner.implementation, inner.profiles, inner._make)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        for operation in operations:
            if isinstance(operation, Advance):
                threading.Event().wait()
            yield from super().do_all([operation])
