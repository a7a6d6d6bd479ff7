"""Apache Kafka's released timers under the suite."""

import msgspec
import pytest

from purgatory_conformance.running.campaign import Verdict
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component

from .kafka_campaign import Falsify, judged
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

DEVIATIONS = {"TIMER-LARGEST-DELAY", "TIMER-NEGATIVE-CLOCK", "TIMER-SHUTDOWN-CLOSED"}


@pytest.mark.parametrize("release", releases("4.4.0", "4.0.0"))
def test_system_timer_is_conformant_with_declared_deviations(release: str) -> None:
    """It breaks three rules as declared, in generated cases too, and no other one."""
    campaign = judged(f"kafka@{release}", Component.TIMER)
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS, campaign.why
    assert set(campaign.seen) == DEVIATIONS
    assert all(seen.cases > 1 for seen in campaign.seen.values())
    assert campaign.verdicts[CaseVerdict.FAIL] == 0
    assert campaign.too_few == []


def test_system_timer_on_the_real_clock_is_conformant() -> None:
    campaign = judged("kafka-real-clock", Component.TIMER, suite="quick")
    for _ in range(2):
        # A machine that is busy elsewhere makes a task late now and then; that does not repeat.
        if campaign.verdict is Verdict.NONDETERMINISTIC:
            campaign = judged("kafka-real-clock", Component.TIMER, suite="quick")
    assert campaign.verdict in (Verdict.CONFORMANT, Verdict.INCONCLUSIVE), campaign.why
    assert campaign.causes == []
    assert campaign.visits["TIMER-NOT-EARLY"] >= 20


def test_mock_timer_is_not_equivalent() -> None:
    """It is not conformant: a task expires only after its expiry, not at it."""
    campaign = judged("kafka-mock-timer", Component.TIMER, suite="quick")
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    rules = {cause.rule for cause in campaign.causes}
    assert "TIMER-NOT-LATE" in rules


def loses_runs_after_a_rejection() -> Falsify:
    """The event of each run is lost once an operation was rejected."""
    rejected = False

    def falsify(operation: Operation, outcome: Outcome) -> Outcome:
        nonlocal rejected
        rejected |= outcome.rejected is not None
        if rejected and isinstance(operation, RunOne):
            return msgspec.structs.replace(outcome, events=())
        return outcome

    return falsify


def test_a_further_defect_is_found_behind_the_declared_deviations() -> None:
    campaign = judged("kafka", Component.TIMER, defect=loses_runs_after_a_rejection)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
