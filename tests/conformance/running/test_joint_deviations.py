"""Variants that explain failing cases together: as few as the cases need, and none for a fault."""

from dataclasses import replace

import pytest

from purgatory_conformance.running.campaign import SUITES, Campaign, run_campaign
from purgatory_conformance.running.joint_deviations import explained
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.subject import Subject
from purgatory_judge.registry import judged
from purgatory_spec.profiles import Component
from tests.strangers.purgatories.five_deviations import PORT, PortedPurgatory

pytestmark = pytest.mark.recorded

FEW = replace(SUITES["quick"], seconds=3600, least_cases=40, shrink_runs=60)
FIVE = set(judged(Component.PURGATORY).variants) - {"completed_uncounted", "no_keys_internal"}


class ForgetsToCount(PortedPurgatory):
    """A check counts no operation that it completes, and has the five deviations besides."""

    def check(self, key: str) -> int:
        super().check(key)
        return 0


def judged_and_told(subject: Subject) -> tuple[Campaign, set[str]]:
    """The campaign, and the variants that explain its causes."""
    campaign = run_campaign(subject, Component.PURGATORY, seed=1, budget=FEW)
    failing = [run for cause in campaign.causes for run in (cause.shrunk, *cause.runs)]
    found = explained(subject, Component.PURGATORY, failing)
    assert all(each.run.breaks(each.deviation.rule) for each in found)
    return campaign, {each.deviation.variant for each in found}


def test_a_fault_beside_five_deviations_is_left_unexplained() -> None:
    """It ends most cases, and some deviations are found all the same."""
    campaign, variants = judged_and_told(PORT.subject(ForgetsToCount))
    assert "PURGATORY-CHECK-COUNT" in {cause.rule for cause in campaign.causes}
    assert len(variants) >= 3
    assert variants <= FIVE


def test_the_variant_of_a_failing_step_is_told_though_other_faults_come_behind() -> None:
    """It comes alone: no variant is told whose trigger has not occurred."""
    campaign = run_campaign(PORT.subject(), Component.PURGATORY, seed=1, budget=FEW)
    hints = {cause.rule: [way.variant for way in cause.ways_out] for cause in campaign.causes}
    assert hints == {
        "PURGATORY-STALE-OPERATIONS": ["stale_uncounted"],
        "PURGATORY-WATCH-COMPLETED": ["completed_watched"],
        "PURGATORY-SHUTDOWN-CLOSED": ["open_after_shutdown"],
        "PURGATORY-CANCEL-KEEPS-TIME-OUT": ["time_out_taken_with_key"],
        "PURGATORY-SECOND-TRY-THROWS": ["second_try_unarmed"],
    }


def test_a_fault_is_no_deviation() -> None:
    campaign, variants = judged_and_told(mutant("no-second-try").make())
    assert campaign.causes
    assert not variants
