"""Apache Kafka's released memory pools under the suite."""

import msgspec
import pytest

from purgatory_conformance.running.campaign import Verdict
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_spec.operations import Operation, ReleaseForeign
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component

from .kafka_campaign import Falsify, judged
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]


@pytest.mark.parametrize("release", releases("4.4.0", "4.0.0", "3.9.1"))
def test_simple_pool_is_conformant_with_one_declared_deviation(release: str) -> None:
    """It credits what it never granted, as declared, and breaks no other rule."""
    campaign = judged(f"kafka@{release}", Component.MEMORY_POOL)
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS, campaign.why
    assert set(campaign.seen) == {"POOL-CONSERVATION"}
    assert campaign.seen["POOL-CONSERVATION"].cases > 1
    assert campaign.verdicts[CaseVerdict.FAIL] == 0
    assert campaign.too_few == []


@pytest.mark.parametrize("release", releases("4.4.0", "4.0.0", "3.9.1"))
def test_leak_tracking_pool_is_conformant(release: str) -> None:
    """Given Kafka's GarbageCollectedMemoryPool, when the suite runs, it breaks no rule."""
    campaign = judged(f"kafka-leak-tracking@{release}", Component.MEMORY_POOL)
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    assert campaign.visits["POOL-LEAK"] > 0
    assert campaign.too_few == []


def grants_more_after_a_foreign_release() -> Falsify:
    """Buffers are a byte too large once a foreign one was credited."""
    credited = False

    def falsify(operation: Operation, outcome: Outcome) -> Outcome:
        nonlocal credited
        credited |= isinstance(operation, ReleaseForeign)
        granted = outcome.observed.get("buffer_bytes")
        if not credited or not isinstance(granted, int):
            return outcome
        observed = {**outcome.observed, "buffer_bytes": granted + 1}
        return msgspec.structs.replace(outcome, observed=observed)

    return falsify


def test_a_further_defect_is_found_behind_the_declared_deviation() -> None:
    campaign = judged(
        "kafka", Component.MEMORY_POOL, suite="quick", defect=grants_more_after_a_foreign_release
    )
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert [cause.rule for cause in campaign.causes] == ["POOL-EXACT-BUFFER"]
