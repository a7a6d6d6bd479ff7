"""The profile that a subject needs: the value of each choice, found from what it declares less."""

from collections.abc import Mapping
from contextlib import closing

import pytest
from msgspec import structs

from purgatory_conformance.running.campaign import Budget
from purgatory_conformance.running.profile_changes import Cost, changes_of
from purgatory_conformance.running.profile_proposals import Proposal, proposal
from purgatory_conformance.specimens.profile_subjects import ProfileSubject, profile_subjects
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_judge.components import PROFILES
from purgatory_spec.profiles import Component, MemoryPoolFeature, Profile, TimerProfile
from tests.conformance.running.test_ways_out import unchecked

pytestmark = pytest.mark.recorded

FEW = Budget(least_cases=40, shrink_runs=60)
SELDOM_SHOWN = {"purgatory-negative-delay-as-zero"}
"""Subjects whose choice so few cases do not show."""

PERMITTED = {
    *("same_tick_order fifo", "executor thread", "structure delay_queue_wheel"),
    *("negative_delay not_offered", "release_cancelled at_once", "severe_throw as_ordinary"),
    *("check_drops as_passed", "check_drops at_end", "release_validation identity"),
    *("zero_request not_offered", "end_while_waiting at_once"),
}
"""Values that the default permits as well, so that nothing need be declared."""

TAKEN_FOR = {
    "accounting any": "accounting exact",
    "larger_delay not_offered": "larger_delay saturate",
}
"""Values that the specimen does not show: it keeps to one that promises more."""


def silent(each: ProfileSubject) -> bool:
    """Decide whether a subject keeps to another value than the default of its choice."""
    choice, value = each.value.split()
    default = getattr(PROFILES[each.component](), choice)
    return str(getattr(default, "value", default)) != value


def proposed(each: ProfileSubject, *choices: str) -> Proposal:
    """Return the proposal for a subject that says nothing of some choices, or of any choice."""
    with closing(each.make()) as subject:
        own, default = subject.profiles[each.component], PROFILES[each.component]()
        names = choices or set(own.__struct_fields__) - {"features", "observables"}
        declared: Profile = structs.replace(own, **{name: getattr(default, name) for name in names})
        return proposal(DeclaredAs(subject, declared), each.component, seed=1, budget=FEW)


def told(found: Proposal) -> set[str]:
    assert not found.unexplained
    assert all(each.run.breaks(each.rule) for each in found.evidence)
    return {each.change.words for each in found.evidence}


@pytest.mark.large
@pytest.mark.parametrize(
    "each",
    [each for each in profile_subjects() if silent(each) and each.name not in SELDOM_SHOWN],
    ids=lambda each: each.name,
)
def test_a_choice_that_is_not_declared_is_proposed(each: ProfileSubject) -> None:
    """It is the only line, with a case that breaks a rule without it."""
    lines = told(proposed(each, each.value.split()[0]))
    assert lines == (set() if each.value in PERMITTED else {TAKEN_FOR.get(each.value, each.value)})


STEPPED = "executor stepped"
ANY_DELAY = f"largest_delay_ms {2**63 - 1}"
SEVERAL: Mapping[str, set[str]] = {
    "rounding-up": {"rounding up", STEPPED, ANY_DELAY},
    "negative-delay-reject": {"negative_delay reject", STEPPED, ANY_DELAY},
    "refused-task-caller-runs": {"refused_task caller_runs", STEPPED, ANY_DELAY},
    "purgatory-accounting-exact": {"accounting exact", "throwing_try go_on", STEPPED},
}


@pytest.mark.parametrize("name", SEVERAL)
def test_two_or_three_choices_at_once_are_proposed(name: str) -> None:
    """A subject that declares no choice at all is told these, and no other."""
    (each,) = [each for each in profile_subjects() if each.name == name]
    assert told(proposed(each)) == SEVERAL[name]


def test_four_kinds_of_release_are_withdrawn_together() -> None:
    forms = {
        *(MemoryPoolFeature.RELEASE_AGAIN, MemoryPoolFeature.RELEASE_SLICE),
        *(MemoryPoolFeature.RELEASE_COPY, MemoryPoolFeature.RELEASE_FOREIGN),
    }
    found = proposal(unchecked(forms), Component.MEMORY_POOL, seed=1, budget=FEW)
    assert told(found) == {f"without {form.value}" for form in forms}


def test_what_the_suite_judges_less_by_stands_last() -> None:
    costs = [change.cost for change in changes_of(TimerProfile())]
    assert costs == sorted(costs)
    assert {Cost.NOTHING, Cost.FEWER_RULES, Cost.ASKED_FOR_LESS} == set(costs)
