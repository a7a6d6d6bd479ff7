"""The suite catches each of its own wrong timers, and blames it on the right rule."""

import pytest

from purgatory_conformance.components import narrowed
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.generation.timer.table import draw_configuration, draw_operations
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.timer_mutants import timer_mutants
from purgatory_conformance.specimens.timer_profiles import timer_profile_subjects
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.support.support import Candidate
from purgatory_spec.profiles import (
    AlreadyDue,
    Component,
    Executor,
    LargerDelay,
    NegativeDelay,
    Rounding,
    SameTickOrder,
    Structure,
    TimerProfile,
)
from purgatory_spec.requirements import requirements

MOST_CASES = 3000


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


def timer_profile(subject: Subject) -> TimerProfile:
    return narrowed(subject.profiles[Component.TIMER], TimerProfile)


def drawn(subject: Subject, seed: int) -> Candidate:
    source = SeededSource(seed)
    profile = timer_profile(subject)
    configuration = draw_configuration(profile, source, frozenset())
    operations = draw_operations(configuration, profile, source, most=50)
    return Candidate(configuration, operations)


def shrunk_failure(subject: Subject) -> CaseRun | None:
    """The first failing case of a subject, reduced; None where it passes them all."""

    def fails(case: Candidate) -> bool:
        return run_of(subject, case).verdict is CaseVerdict.FAIL

    for seed in range(MOST_CASES):
        case = drawn(subject, seed)
        if fails(case):
            return run_of(subject, reduce_case(timer_profile(subject), case, fails, 3000))
    return None


@pytest.mark.parametrize("mutant", timer_mutants(), ids=lambda mutant: mutant.name)
def test_mutant_is_caught_and_blamed_on_its_rule(mutant: Mutant) -> None:
    """
    Given a timer that breaks one rule
    When generated cases run until one fails, and that one is reduced
    Then what is left diverges by that rule
    """
    subject = mutant.make()
    try:
        run = shrunk_failure(subject)
    finally:
        subject.close()
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule in (mutant.rule, *mutant.also)
    assert len(run.steps) <= 7


def test_mutants_are_many_and_have_names_of_their_own() -> None:
    """
    Given the mutants
    When their names and rules are counted
    Then there are more than fifty, and they break thirty different rules or more
    """
    names = [mutant.name for mutant in timer_mutants()]
    assert len(names) == len(set(names)) >= 50
    assert len({mutant.rule for mutant in timer_mutants()}) >= 30
    assert all(mutant.summary for mutant in timer_mutants())


def test_each_rule_of_a_manual_clock_is_broken_by_a_specimen() -> None:
    """
    Given the mutants and the siblings of the profile subjects
    When the rules that they break are compared with the rules there are
    Then all are broken but the one about real clocks
    """
    broken = {mutant.rule for mutant in timer_mutants()}
    broken |= {each.sibling_rule for each in timer_profile_subjects() if each.sibling_rule}
    assert {rule.id for rule in requirements(Component.TIMER)} - broken == {"TIMER-LATENESS"}


@pytest.mark.parametrize("each", timer_profile_subjects(), ids=lambda each: each.name)
def test_profile_subject_conforms_as_declared(each: ProfileSubject) -> None:
    """
    Given a tiny timer that declares a legal choice and keeps to it
    When generated cases run
    Then all of them pass
    """
    subject = each.make()
    try:
        for seed in range(60):
            run = run_of(subject, drawn(subject, seed))
            assert run.verdict is CaseVerdict.PASS, run.divergence
    finally:
        subject.close()


WEAKER = tuple(each for each in timer_profile_subjects() if not each.sibling_rule)
"""Timers whose sibling declares less than they keep to, and so conforms."""


@pytest.mark.parametrize("each", WEAKER, ids=lambda each: each.name)
def test_sibling_that_declares_less_conforms(each: ProfileSubject) -> None:
    """
    Given a timer that keeps to more than it declares
    When generated cases run
    Then all of them pass: declaring less is no fault
    """
    subject = each.sibling()
    try:
        verdicts = {run_of(subject, drawn(subject, seed)).verdict for seed in range(60)}
    finally:
        subject.close()
    assert verdicts == {CaseVerdict.PASS}


STRICTER = tuple(each for each in timer_profile_subjects() if each.sibling_rule)


@pytest.mark.parametrize("each", STRICTER, ids=lambda each: each.name)
def test_sibling_fails_for_the_named_rule(each: ProfileSubject) -> None:
    """
    Given the same timer declared under the other choice
    When generated cases run until one fails, and that one is reduced
    Then it diverges by the rule of that choice
    """
    subject = each.sibling()
    try:
        run = shrunk_failure(subject)
    finally:
        subject.close()
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule == each.sibling_rule


def test_each_choice_has_a_subject() -> None:
    """
    Given the choices that parameterise the model's predictions
    When the profile subjects are made
    Then each value of each choice is declared by one of them
    """
    profiles = []
    for each in timer_profile_subjects():
        subject = each.make()
        profiles.append(timer_profile(subject))
        subject.close()
    assert {profile.rounding for profile in profiles} == set(Rounding)
    assert {profile.same_tick_order for profile in profiles} == set(SameTickOrder)
    assert {profile.executor for profile in profiles} == set(Executor)
    assert {profile.structure for profile in profiles} == set(Structure)
    assert {profile.negative_delay for profile in profiles} == set(NegativeDelay)
    assert {profile.larger_delay for profile in profiles} == set(LargerDelay)
    assert {profile.already_due for profile in profiles} == set(AlreadyDue)
    assert len({profile.largest_delay_ms for profile in profiles}) > 1
