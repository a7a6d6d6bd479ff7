"""The control: a purgatory written by nobody who wrote the model passes the whole suite."""

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.small.other_purgatories import WheelPurgatory
from purgatory_conformance.specimens.small.purgatory import (
    ESTIMATE_PROFILE,
    PROFILE,
    PROPOSAL_PROFILE,
    SILENT_PROFILE,
    DelayedOperation,
    MakePurgatory,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.wrong.checking import CountsStale, cancel_takes_time_out
from purgatory_judge.case_judge import Deviation
from purgatory_spec import profiles
from purgatory_spec.operations import Force, Shutdown, Wait, Watch
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirements, requirements_of_steps

pytestmark = pytest.mark.recorded

STANDARD = Budget()


def campaign_of(
    profile: profiles.PurgatoryProfile,
    make: MakePurgatory = SmallPurgatory,
    *,
    cases: int = 60,
    deviations: tuple[Deviation, ...] = (),
) -> Campaign:
    return run_campaign(
        small_purgatory(make, profile),
        profiles.Component.PURGATORY,
        seed=2,
        budget=Budget(least_cases=cases, most_cases=cases, shrink_runs=100),
        deviations=deviations,
    )


@pytest.mark.slow
def test_small_purgatory_conforms_and_is_put_to_every_test() -> None:
    """Each vector passes, and each rule was visited as often as it must be."""
    golden = vectors(profiles.Component.PURGATORY)
    campaign = run_campaign(
        small_purgatory(), profiles.Component.PURGATORY, seed=1, budget=STANDARD, vectors=golden
    )
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    assert (campaign.vectors, campaign.cases) == (len(golden), STANDARD.least_cases)
    assert set(campaign.verdicts) == {CaseVerdict.PASS}
    rules = {r.id for r in requirements(profiles.Component.PURGATORY) if r.applies_to(PROFILE)}
    assert {rule.id for rule in campaign.rules} == rules
    assert rules | {"PURGATORY-ESTIMATE-PROPOSAL"} == {
        rule.id for rule in requirements_of_steps(profiles.Component.PURGATORY)
    }
    assert min(campaign.visits[rule] for rule in rules) >= STANDARD.minimum_visits


PROFILES = {
    "silent": SILENT_PROFILE,
    "proposal": ESTIMATE_PROFILE,
    "inline": msgspec.structs.replace(PROFILE, executor=profiles.Executor.INLINE),
    "inline and silent": msgspec.structs.replace(SILENT_PROFILE, executor=profiles.Executor.INLINE),
    "rounding up": msgspec.structs.replace(PROFILE, rounding=profiles.Rounding.UP),
    "no feature": msgspec.structs.replace(PROFILE, features=frozenset()),
    "weakest": profiles.PurgatoryProfile(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_small_purgatory_conforms_under_other_profiles(name: str) -> None:
    campaign = campaign_of(PROFILES[name])
    assert set(campaign.verdicts) == {CaseVerdict.PASS}, campaign.causes


WHEEL = msgspec.structs.replace(PROPOSAL_PROFILE, structure=profiles.Structure.DELAY_QUEUE_WHEEL)


class LikeKafka(WheelPurgatory):
    """A purgatory with the choices of Kafka's, and with its deviations."""

    cancel_for_key = cancel_takes_time_out.cancel_for_key

    def arm(self, operation: DelayedOperation) -> None:
        """Not before the second try."""

    def second_try(self, operation: DelayedOperation) -> bool:
        """The time-out is armed behind it, where it does not throw."""
        done = super().second_try(operation)
        if not operation.completed:
            WheelPurgatory.arm(self, operation)
        return done


DEVIATIONS = (
    Deviation("PURGATORY-STALE-OPERATIONS", "stale_uncounted", ""),
    Deviation("PURGATORY-CANCEL-KEEPS-TIME-OUT", "time_out_taken_with_key", ""),
    Deviation("PURGATORY-SECOND-TRY-THROWS", "second_try_unarmed", ""),
)


@pytest.mark.slow
def test_declared_deviations_are_followed_beyond() -> None:
    """Each deviation is met, none is undeclared, and the bound is what is excused."""
    campaign = campaign_of(WHEEL, LikeKafka, cases=150, deviations=DEVIATIONS)
    assert set(campaign.verdicts) == {CaseVerdict.PASS, CaseVerdict.DEVIATES}, campaign.causes
    assert all(seen.cases for seen in campaign.seen.values())
    assert set(campaign.seen) == {deviation.rule for deviation in DEVIATIONS}


@pytest.mark.slow
@pytest.mark.parametrize("missing", DEVIATIONS, ids=lambda deviation: deviation.rule)
def test_undeclared_deviation_is_a_failure(missing: Deviation) -> None:
    declared = tuple(each for each in DEVIATIONS if each is not missing)
    campaign = campaign_of(WHEEL, LikeKafka, cases=100, deviations=declared)
    assert missing.rule in {cause.rule for cause in campaign.causes}


class LikeKafkaAndWrong(CountsStale, LikeKafka):
    """A further defect behind the declared ones."""


@pytest.mark.slow
def test_further_defect_is_found_behind_declared_deviations() -> None:
    """The defect is blamed on its rule."""
    campaign = campaign_of(WHEEL, LikeKafkaAndWrong, cases=60, deviations=DEVIATIONS)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert "PURGATORY-CHECK-COUNT" in {cause.rule for cause in campaign.causes}


def test_operation_of_another_component_is_unsupported() -> None:
    subject = small_purgatory()
    subject.new("wait", profiles.PurgatoryConfiguration())
    waited, _, watched, forced = subject.do_all(
        [Wait(1), Shutdown(), Watch("o1", ("a",), 1), Force("o1")]
    )
    assert waited.rejected is Reason.UNSUPPORTED
    assert (watched.rejected, watched.events) == (Reason.CLOSED, ())
    assert forced.result is True


def test_features_are_all_that_there_are() -> None:
    assert PROFILE.features == frozenset(profiles.PurgatoryFeature)
