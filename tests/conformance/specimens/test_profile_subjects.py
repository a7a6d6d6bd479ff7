"""A subject for each value that a profile may declare, and its sibling that declares another."""

from collections.abc import Set
from contextlib import closing

import pytest

from purgatory_conformance.specimens.profile_subjects import ProfileSubject, profile_subjects
from purgatory_conformance.subjects.subject import profile_of
from purgatory_spec.profiles import (
    Accounting,
    AlreadyDue,
    CancelResult,
    CheckDrops,
    CheckOrder,
    Component,
    EndWhileWaiting,
    Executor,
    FirstTry,
    LargerDelay,
    NegativeDelay,
    PurgeDue,
    Recovery,
    RefusedTask,
    ReleaseCancelled,
    ReleaseValidation,
    Rounding,
    SameTickOrder,
    Structure,
    ThrowingTry,
    ZeroRequest,
)
from tests.conformance.generated import passes, shrunk_divergence

pytestmark = pytest.mark.recorded

CASES = {
    Component.TIMER: 60,
    Component.PURGATORY: 40,
    Component.MEMORY_POOL: 80,
    Component.CHANNEL_MUTING: 80,
}
WEAKER = [each for each in profile_subjects() if not each.sibling_rule]
STRICTER = [each for each in profile_subjects() if each.sibling_rule]


@pytest.mark.parametrize("each", profile_subjects(), ids=lambda each: each.name)
def test_profile_subject_conforms_as_declared(each: ProfileSubject) -> None:
    with closing(each.make()) as subject:
        passes(subject, each.component, CASES[each.component])


@pytest.mark.parametrize("each", WEAKER, ids=lambda each: each.name)
def test_sibling_that_declares_less_conforms(each: ProfileSubject) -> None:
    """Declaring less than a subject keeps to is no fault."""
    with closing(each.sibling()) as subject:
        passes(subject, each.component, CASES[each.component])


@pytest.mark.parametrize("each", STRICTER, ids=lambda each: each.name)
def test_sibling_fails_for_the_named_rule(each: ProfileSubject) -> None:
    with closing(each.sibling()) as subject:
        found = shrunk_divergence(subject, each.component)
    assert {each.sibling_rule, *each.sibling_also} & {found.rule, *found.also}


def test_names_are_unique() -> None:
    names = [each.name for each in profile_subjects()]
    assert len(names) == len(set(names))


CHOICES: dict[Component, dict[str, Set[object]]] = {
    Component.TIMER: {
        "rounding": set(Rounding),
        "same_tick_order": set(SameTickOrder),
        "executor": set(Executor),
        "structure": set(Structure),
        "already_due": set(AlreadyDue),
        "negative_delay": set(NegativeDelay),
        "larger_delay": set(LargerDelay),
        "release_cancelled": set(ReleaseCancelled),
        "refused_task": set(RefusedTask),
    },
    Component.PURGATORY: {
        "accounting": set(Accounting),
        "purge_due": set(PurgeDue),
        "first_try": set(FirstTry),
        "check_order": set(CheckOrder),
        "check_drops": set(CheckDrops),
        "already_due": set(AlreadyDue),
        "negative_delay": set(NegativeDelay),
        "throwing_try": set(ThrowingTry),
        "cancel_result": set(CancelResult),
        "refused_task": set(RefusedTask),
        "executor": set(Executor) - {Executor.THREAD, Executor.THREADS},
        "rounding": set(Rounding),
        "same_tick_order": set(SameTickOrder),
        "structure": set(Structure),
        "release_cancelled": set(ReleaseCancelled),
    },
    Component.MEMORY_POOL: {
        "release_validation": set(ReleaseValidation),
        "zero_request": set(ZeroRequest),
    },
    Component.CHANNEL_MUTING: {
        "recovery": set(Recovery),
        "end_while_waiting": set(EndWhileWaiting),
    },
}
"""The choices that parameterise the model's predictions; no purgatory runs on threads here."""


@pytest.mark.parametrize("component", Component)
def test_each_choice_has_a_subject(component: Component) -> None:
    """Each value of each choice is declared by a profile subject; so are two limits of delays."""
    profiles = []
    for each in profile_subjects():
        if each.component is component:
            with closing(each.make()) as subject:
                profiles.append(profile_of(subject, component))
    for choice, values in CHOICES[component].items():
        assert {getattr(profile, choice) for profile in profiles} == values
    limits = {getattr(profile, "largest_delay_ms", None) for profile in profiles}
    assert component is not Component.TIMER or len(limits) > 1
