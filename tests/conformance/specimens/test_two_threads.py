"""Two threads that call crosswise: what locks wrongly waits for ever, and other locks do not."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from purgatory_conformance.running.campaign import SUITES, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.small.purgatory import (
    PROFILE,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.small.two_threads import TwoThreadsPurgatory
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.other_thread import OtherThread
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Component, PurgatoryConfiguration, PurgatoryProfile
from tests.conformance.generated import drawn, run_of

CROSSWISE = frozenset({"PURGATORY-NO-CIRCLE"})
HANGING = [each for each in mutants() if each.rule in CROSSWISE]
CASES = 80


class OneLock(TwoThreadsPurgatory):
    """One lock for the whole purgatory: the other thread waits until the first call has ended."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        super().__init__(configuration, profile)
        self.other_thread = OtherThread(grace_s=0.01)

    def perform(self, operation: op.Operation) -> Value:
        with self.locks[None]:
            return super().perform(operation)

    def act(self, action: op.CallbackAction) -> None:
        with self.locks[None]:
            super().act(action)


@pytest.mark.parametrize("right", [SmallPurgatory, TwoThreadsPurgatory, OneLock])
def test_a_purgatory_without_a_circle_passes(right: type[SmallPurgatory]) -> None:
    """Given no lock, or one: cases with crosswise calls pass, and test the rule."""
    visited = 0
    with closing(GuardedSubject(small_purgatory(right))) as subject:
        for seed in range(CASES):
            case = drawn(Component.PURGATORY, PROFILE, seed, wanted=CROSSWISE)
            run = run_of(subject, case)
            assert run.verdict is CaseVerdict.PASS, run.divergence
            visited += run.visits["PURGATORY-NO-CIRCLE"]
    assert visited > 3


@pytest.fixture
def threads_of_the_test_suite() -> Iterator[None]:
    """Run more threads that are no subject's than stacks are shown."""
    ended = threading.Event()
    threads = [threading.Thread(target=ended.wait, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    yield
    ended.set()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("threads_of_the_test_suite")
@pytest.mark.parametrize(
    "mutant",
    [
        # The calls of this one wait in many cases, for seconds each.
        pytest.param(each, marks=pytest.mark.verify if each.name == "waits-inside-a-try" else ())
        for each in HANGING
    ],
    ids=lambda mutant: mutant.name,
)
def test_calls_that_wait_for_each_other_are_a_deadlock(mutant: Mutant) -> None:
    """Given locks held while operations are tried: three steps, the rule and both stacks."""
    budget = replace(SUITES["quick"], least_cases=60, most_cases=60)
    with closing(GuardedSubject(mutant.make(), 4.0)) as subject:
        campaign = run_campaign(subject, mutant.component, seed=2, budget=budget)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    # A call that waits in a try may also show in what other calls answer.
    cause = next(each for each in campaign.causes if each.kind == "hung")
    assert (cause.rule, cause.kind) == (mutant.rule, "hung")
    *watches, check = (step.operation for step in cause.shrunk.steps)
    assert [type(watch) for watch in watches] == [op.Watch, op.Watch]
    assert isinstance(check, op.Check)
    (failure,) = campaign.failures
    assert "thread 'meanwhile':" in failure.standard_error
