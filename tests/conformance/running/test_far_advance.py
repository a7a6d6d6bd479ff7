"""A clock is moved by years where that costs nothing, whether a profile says so or not."""

import pytest
from msgspec import structs

from purgatory_conformance.running import campaign
from purgatory_conformance.running.far_advance import with_far_advance
from purgatory_conformance.specimens.small.other_timers import HeapTimer
from purgatory_conformance.specimens.small.purgatory import PROFILE as PURGATORY_PROFILE
from purgatory_conformance.specimens.small.purgatory import small_purgatory
from purgatory_conformance.specimens.small.specimen import Refusal
from purgatory_conformance.specimens.small.timer import PROFILE, SmallTimer, small_subject
from purgatory_spec import profiles
from purgatory_spec.profiles import Component, Feature, PurgatoryFeature, Rounding, Structure
from purgatory_spec.reasons import Reason

pytestmark = pytest.mark.recorded

UNDECLARED = structs.replace(
    PROFILE,
    executor=profiles.Executor.INLINE,
    rounding=Rounding.EXACT,
    structure=Structure.ANY,
    features=frozenset({Feature.CANCEL, Feature.READD}),
    observables=frozenset({profiles.Observable.SIZE}),
)
"""The profile of a heap, as a port of one declares it that has read no further."""


class TickingTimer(HeapTimer):
    """A timer that goes from tick to tick."""

    ticks = 0

    def advance(self) -> bool:
        """Count the ticks on the way, then hand over what is due."""
        for _ in range(self.ticks, min(self.now_ms, 10**6)):
            self.ticks += 1
        return super().advance()


class ShortSighted(HeapTimer):
    """A timer that takes no reading of more than 32 bits."""

    def advance(self) -> bool:
        """Refuse a far reading."""
        if self.now_ms >= 2**32:
            raise Refusal(Reason.INTERNAL)
        return super().advance()


class EarlyBeyond26Bits(HeapTimer):
    """A timer that forgets the upper bits of a far delay."""

    def expiry(self, delay_ms: int) -> int:
        """Return the expiry of the lowest 26 bits."""
        return super().expiry(delay_ms % 2**26 if delay_ms > 0 else delay_ms)


class CountsNanoseconds(HeapTimer):
    """A timer whose clock ends after 2^63 nanoseconds, and then reads something else."""

    def advance(self) -> bool:
        """Hand over nothing behind the end of the clock."""
        return self.now_ms < 2**63 // 10**6 and super().advance()


class LateBeyond40Bits(HeapTimer):
    """A timer that is late where the due time has more than 40 bits."""

    def expiry(self, delay_ms: int) -> int:
        """Return the expiry, or one behind it."""
        expiry_ms = super().expiry(delay_ms)
        return expiry_ms + 64 if expiry_ms >= 2**40 else expiry_ms


def test_a_heap_goes_far_and_a_loop_over_ticks_does_not() -> None:
    for make, goes in ((HeapTimer, True), (TickingTimer, False), (ShortSighted, False)):
        found, _ = with_far_advance(small_subject(make, UNDECLARED), UNDECLARED)
        assert (Feature.FAR_ADVANCE in found.features) == goes, make


def test_a_purgatory_is_tried_as_well() -> None:
    feature = PurgatoryFeature.FAR_ADVANCE
    profile = structs.replace(PURGATORY_PROFILE, features=PURGATORY_PROFILE.features - {feature})
    found, _ = with_far_advance(small_purgatory(profile=profile), profile)
    assert feature in found.features


def test_a_rule_that_is_broken_on_the_way_is_a_case_of_the_campaign() -> None:
    subject = small_subject(EarlyBeyond26Bits, UNDECLARED)
    profile, wrong = with_far_advance(subject, UNDECLARED)
    assert profile == UNDECLARED
    assert wrong is not None
    assert wrong.divergence is not None
    budget = campaign.Budget(least_cases=1, most_cases=1, minimum_visits=0)
    seen = campaign.run_campaign(subject, Component.TIMER, seed=1, budget=budget)
    assert seen.verdict is campaign.Verdict.NOT_CONFORMANT


def test_a_clock_that_ends_in_centuries_is_no_fault() -> None:
    subject = small_subject(CountsNanoseconds, UNDECLARED)
    assert with_far_advance(subject, UNDECLARED) == (UNDECLARED, None)


def test_on_a_real_clock_nothing_is_tried() -> None:
    profile = structs.replace(UNDECLARED, clock=profiles.Clock.WALL)
    assert with_far_advance(small_subject(SmallTimer, UNDECLARED), profile) == (profile, None)


@pytest.mark.parametrize("is_tried", [True, False])
def test_a_fault_beyond_the_reach_of_ticks_is_found(
    is_tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a case comes to such readings only where the feature is found."""
    if not is_tried:
        monkeypatch.setattr(campaign, "with_far_advance", lambda _, profile: (profile, None))
    subject = small_subject(LateBeyond40Bits, UNDECLARED)
    budget = campaign.Budget(least_cases=100, minimum_visits=0)
    seen = campaign.run_campaign(subject, Component.TIMER, seed=1, budget=budget)
    expected = campaign.Verdict.NOT_CONFORMANT if is_tried else campaign.Verdict.CONFORMANT
    assert seen.verdict is expected
