"""Apache Kafka's released selector, channels and memory pool under the suite."""

import msgspec
import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import Verdict
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_spec.operations import Operation, Throttle
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule

from .adapter_process import WORK_FOLDER, need_java_and_maven
from .kafka_campaign import Falsify, judged
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

DEVIATIONS = {"MUTING-BUFFERED", "MUTING-NOT-IDLE", "MUTING-NOT-WITH-MEMORY"}


@pytest.mark.parametrize("release", releases("4.4.0", "4.0.0", "3.9.1", "2.8.2"))
def test_channels_are_conformant_with_declared_deviations(release: str) -> None:
    """It breaks the declared rules, in generated cases too, and no other one."""
    campaign = judged(f"kafka@{release}", Component.CHANNEL_MUTING)
    assert campaign.verdict is Verdict.CONFORMANT_WITH_DEVIATIONS, campaign.why
    assert set(campaign.seen) == DEVIATIONS
    assert all(seen.cases > 1 for seen in campaign.seen.values())
    assert campaign.verdicts[CaseVerdict.FAIL] == 0
    assert campaign.too_few == []


def test_without_the_declarations_each_deviation_is_found() -> None:
    """Each fails for its rule without its own declaration, and deviates with it."""
    need_java_and_maven()
    opened = open_subject("kafka", work_folder=WORK_FOLDER)
    try:
        for rule, case in opened.replays:
            if component_of_rule(rule) is not Component.CHANNEL_MUTING:
                continue
            others = tuple(each for each in opened.deviations if each.rule in DEVIATIONS - {rule})
            its_own = tuple(each for each in opened.deviations if each.rule == rule)
            configuration = case.header.configuration
            run = run_case(opened.subject, rule, configuration, case.operations, others)
            assert run.verdict is CaseVerdict.FAIL
            assert run.breaks(rule)
            run = run_case(opened.subject, rule, configuration, case.operations, its_own)
            assert run.verdict is CaseVerdict.DEVIATES
    finally:
        opened.subject.close()


def loses_a_byte_after_throttling() -> Falsify:
    """A byte less is available once a channel was throttled."""
    throttled = False

    def falsify(operation: Operation, outcome: Outcome) -> Outcome:
        nonlocal throttled
        throttled |= isinstance(operation, Throttle)
        available = outcome.observed.get("available_bytes")
        if not throttled or not isinstance(available, int):
            return outcome
        observed = {**outcome.observed, "available_bytes": available - 1}
        return msgspec.structs.replace(outcome, observed=observed)

    return falsify


def test_a_further_defect_is_found_behind_the_declared_deviations() -> None:
    campaign = judged(
        "kafka", Component.CHANNEL_MUTING, suite="quick", defect=loses_a_byte_after_throttling
    )
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert "MUTING-CONSERVATION" in {cause.rule for cause in campaign.causes}
