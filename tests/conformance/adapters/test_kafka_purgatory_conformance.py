"""Apache Kafka's released purgatories under the suite."""

import msgspec
import pytest

from purgatory_conformance.running.campaign import Verdict
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_spec.operations import CancelForKey, Operation
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import Component

from .kafka_campaign import Falsify, judged
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

DEVIATIONS = {
    "PURGATORY-CANCEL-KEEPS-TIME-OUT",
    "PURGATORY-SECOND-TRY-THROWS",
    "PURGATORY-SHUTDOWN-CLOSED",
    "PURGATORY-STALE-OPERATIONS",
}
BEFORE_4_0 = DEVIATIONS | {"PURGATORY-NO-KEYS", "PURGATORY-WATCH-COMPLETED"}
BEFORE_2_7 = DEVIATIONS | {"PURGATORY-NO-KEYS", "PURGATORY-ESTIMATE-PROPOSAL"}


@pytest.mark.parametrize(
    ("release", "deviations"),
    releases(
        *("4.4.0", "4.0.0", "3.9.1", "2.8.2", "2.6.3", "2.4.1"),
        also=(DEVIATIONS, DEVIATIONS, BEFORE_4_0, BEFORE_4_0, BEFORE_2_7, BEFORE_2_7),
    ),
)
def test_purgatory_is_conformant_with_declared_deviations(
    release: str, deviations: set[str]
) -> None:
    """It breaks the declared rules, in generated cases too, and no other one."""
    campaign = judged(f"kafka@{release}", Component.PURGATORY)
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS, campaign.why
    assert set(campaign.seen) == deviations
    assert all(seen.cases > 1 for seen in campaign.seen.values())
    assert campaign.verdicts[CaseVerdict.FAIL] == 0
    assert campaign.too_few == []


def loses_time_outs_after_a_cancel() -> Falsify:
    """The call of ``on_expiration`` is not reported once a key was cancelled."""
    cancelled = False

    def falsify(operation: Operation, outcome: Outcome) -> Outcome:
        nonlocal cancelled
        cancelled |= isinstance(operation, CancelForKey)
        if not cancelled:
            return outcome
        kept = tuple(event for event in outcome.events if event.kind is not EventKind.TIMED_OUT)
        return msgspec.structs.replace(outcome, events=kept)

    return falsify


def test_a_further_defect_is_found_behind_the_declared_deviations() -> None:
    campaign = judged(
        "kafka", Component.PURGATORY, suite="quick", defect=loses_time_outs_after_a_cancel
    )
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert "PURGATORY-CALLBACK-ORDER" in {cause.rule for cause in campaign.causes}
