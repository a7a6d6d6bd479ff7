"""Apache Kafka's released timers under the suite."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import SUITES, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration
from purgatory_spec.requirements import component_of_rule

from .releases import releases

pytestmark = [pytest.mark.java, pytest.mark.slow]

WORK = Path(__file__).resolve().parents[3] / "purgatory-work"
DEVIATIONS = {"TIMER-LARGEST-DELAY", "TIMER-NEGATIVE-CLOCK", "TIMER-SHUTDOWN-CLOSED"}


def campaign_of(word: str, suite: str = "standard") -> Campaign:
    opened = open_subject(word, work_folder=WORK)
    try:
        return campaign_on(opened, opened.subject, suite)
    finally:
        opened.subject.close()


def campaign_on(opened: OpenSubject, subject: Subject, suite: str) -> Campaign:
    return run_campaign(
        subject,
        Component.TIMER,
        seed=11,
        budget=replace(SUITES[suite], shrink_runs=150),
        vectors=vectors(Component.TIMER),
        deviations=tuple(each for each in opened.deviations if _is_timers(each.rule)),
        replays=tuple((rule, case) for rule, case in opened.replays if _is_timers(rule)),
    )


def _is_timers(rule: str) -> bool:
    return component_of_rule(rule) is Component.TIMER


@pytest.mark.parametrize("release", releases("4.4.0", "4.0.0"))
def test_system_timer_is_conformant_with_declared_deviations(release: str) -> None:
    """
    Given Kafka's SystemTimer on a virtual clock
    When the suite runs
    Then it breaks three rules as declared, in generated cases too, and no other one
    """
    campaign = campaign_of(f"kafka@{release}")
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS, campaign.why
    assert set(campaign.seen) == DEVIATIONS
    assert all(seen.cases > 1 for seen in campaign.seen.values())
    assert campaign.verdicts[CaseVerdict.FAIL] == 0
    assert campaign.too_few == []


def test_system_timer_on_the_real_clock_is_conformant() -> None:
    """
    Given Kafka's SystemTimer with its reaper, real clock and executor, nothing replaced
    When the suite runs
    Then it is conformant within its declared lateness
    """
    campaign = campaign_of("kafka-real-clock", "quick")
    for _ in range(2):
        # A machine that is busy elsewhere makes a task late now and then; that does not repeat.
        if campaign.verdict is Verdict.NONDETERMINISTIC:
            campaign = campaign_of("kafka-real-clock", "quick")
    assert campaign.verdict in (Verdict.CONFORMANT, Verdict.INCONCLUSIVE), campaign.why
    assert campaign.causes == []
    assert campaign.visits["TIMER-NOT-EARLY"] >= 20


def test_mock_timer_is_not_equivalent() -> None:
    """
    Given Kafka's MockTimer, the test double
    When the suite runs
    Then it is not conformant: a task expires only after its expiry, not at it
    """
    campaign = campaign_of("kafka-mock-timer", "quick")
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    rules = {cause.rule for cause in campaign.causes}
    assert "TIMER-NOT-LATE" in rules


class LosesRuns:
    """Kafka behind a wrapper that loses the event of each run after a rejected operation."""

    def __init__(self, inner: Subject) -> None:
        self.inner = inner
        self.implementation = inner.implementation
        self.profiles = inner.profiles

    def new(self, case: str, configuration: Configuration) -> None:
        self.inner.new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        planned = list(operations)
        rejected = False
        for operation, outcome in zip(planned, self.inner.do_all(planned), strict=True):
            rejected |= outcome.rejected is not None
            if rejected and isinstance(operation, RunOne):
                yield msgspec.structs.replace(outcome, events=())
            else:
                yield outcome

    def end(self) -> None:
        self.inner.end()

    def close(self) -> None:
        self.inner.close()


def test_a_further_defect_is_found_behind_the_declared_deviations() -> None:
    """
    Given Kafka with a defect planted that shows only after a declared deviation
    When the suite runs with all deviations declared
    Then the defect is found
    """
    opened = open_subject("kafka", work_folder=WORK)
    try:
        campaign = campaign_on(opened, LosesRuns(opened.subject), "standard")
    finally:
        opened.subject.close()
    assert campaign.verdict is Verdict.NOT_CONFORMANT
