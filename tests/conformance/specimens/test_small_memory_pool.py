"""The control: a memory pool written by nobody who wrote the model passes the whole suite."""

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.specimens.small.memory_pool import (
    PROFILE,
    SmallMemoryPool,
    small_pool_subject,
)
from purgatory_spec.operations import Add, Allocate, Construct, Lose, Release
from purgatory_spec.profiles import (
    Component,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolObservable,
    MemoryPoolProfile,
    ReleaseValidation,
)
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import requirements

pytestmark = pytest.mark.recorded

STANDARD = Budget()


@pytest.mark.slow
def test_small_pool_conforms_and_is_put_to_every_test() -> None:
    """Each vector passes, and each rule was visited as often as it must be."""
    golden = vectors(Component.MEMORY_POOL)
    campaign = run_campaign(
        small_pool_subject(), Component.MEMORY_POOL, seed=1, budget=STANDARD, vectors=golden
    )
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    assert (campaign.vectors, campaign.cases) == (len(golden), STANDARD.least_cases)
    assert set(campaign.verdicts) == {CaseVerdict.PASS}
    rules = {rule.id for rule in requirements(Component.MEMORY_POOL)}
    assert {rule.id for rule in campaign.rules} == rules
    assert min(campaign.visits[rule] for rule in rules) >= STANDARD.minimum_visits


def _only(*features: MemoryPoolFeature) -> MemoryPoolProfile:
    return msgspec.structs.replace(PROFILE, features=frozenset(features))


PROFILES = {
    "silent": msgspec.structs.replace(PROFILE, observables=frozenset()),
    "strict": _only(MemoryPoolFeature.STRICT),
    "non-strict": _only(MemoryPoolFeature.NON_STRICT),
    "unbounded": _only(MemoryPoolFeature.UNBOUNDED),
    "leaks": _only(MemoryPoolFeature.NON_STRICT, MemoryPoolFeature.LEAK_DETECTION),
    "leaks, time alone": msgspec.structs.replace(
        PROFILE, observables=frozenset({MemoryPoolObservable.DEPLETED_TIME})
    ),
    "weakest": MemoryPoolProfile(features=frozenset({MemoryPoolFeature.STRICT})),
    "naive and silent": msgspec.structs.replace(
        PROFILE,
        release_validation=ReleaseValidation.NONE,
        observables=frozenset(),
        features=PROFILE.features - {MemoryPoolFeature.RELEASE_FOREIGN},
    ),
}


@pytest.mark.parametrize("name", PROFILES)
def test_small_pool_conforms_under_other_profiles(name: str) -> None:
    subject = small_pool_subject(profile=PROFILES[name], behaves=PROFILE)
    budget = Budget(least_cases=80, most_cases=80)
    campaign = run_campaign(subject, Component.MEMORY_POOL, seed=2, budget=budget)
    # Where a pool shows little, a long case may go in too many ways to follow.
    assert set(campaign.verdicts) <= {CaseVerdict.PASS, CaseVerdict.INCONCLUSIVE}
    assert campaign.verdicts[CaseVerdict.PASS] >= 78
    assert campaign.cases == 80


@pytest.mark.parametrize("others", [frozenset(), frozenset({MemoryPoolFeature.CONSTRUCT})])
def test_a_pool_without_any_bound_can_be_conformant(others: frozenset[MemoryPoolFeature]) -> None:
    profile = _only(MemoryPoolFeature.UNBOUNDED, *others)
    subject = small_pool_subject(profile=profile, behaves=PROFILE)
    budget = Budget(least_cases=50)
    campaign = run_campaign(subject, Component.MEMORY_POOL, seed=1, budget=budget)
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    unbounded = {f"POOL-UNBOUNDED-{word}" for word in ("GRANTS", "NEGATIVE", "RELEASE")}
    constructed = {"POOL-CONSTRUCT"} if others else set()
    assert {rule.id for rule in campaign.rules} == unbounded | constructed


class BreaksDown(SmallMemoryPool):
    """Fails in a way that no rule plans."""

    def credit(self, count: int) -> None:
        """Divides by nothing."""
        self.available += count // 0


def test_unplanned_failure_is_internal() -> None:
    subject = small_pool_subject(BreaksDown)
    subject.new("break", MemoryPoolConfiguration())
    granted, released = subject.do_all([Allocate("a", 1), Release("a")])
    assert (granted.result, granted.rejected) == (True, None)
    assert released.rejected is Reason.INTERNAL
    assert "ZeroDivisionError" in released.detail


def test_what_the_small_pool_cannot_be_asked() -> None:
    subject = small_pool_subject()
    subject.new("names", MemoryPoolConfiguration())
    outcomes = subject.do_all([Release("z"), Lose("z"), Add("a", 1), Construct(1, 2)])
    assert [outcome.rejected for outcome in outcomes] == [
        Reason.UNKNOWN_NAME,
        Reason.UNKNOWN_NAME,
        Reason.UNSUPPORTED,
        Reason.INVALID_ARGUMENT,
    ]


def test_an_allocation_that_fails_takes_nothing() -> None:
    configuration = MemoryPoolConfiguration(size_bytes=2**50, max_single_bytes=2**50)
    pool = SmallMemoryPool(configuration, PROFILE)
    with pytest.raises(MemoryError):
        pool.try_allocate(2**49)
    assert (pool.available, pool.granted) == (2**50, [])
