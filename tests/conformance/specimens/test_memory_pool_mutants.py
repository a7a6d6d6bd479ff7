"""The suite catches each of its own wrong memory pools, and blames it on the right rule."""

import msgspec
import pytest

from purgatory_conformance.components import narrowed
from purgatory_conformance.generation.memory_pool.table import draw_configuration, draw_operations
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.specimens.memory_pool_mutants import memory_pool_mutants
from purgatory_conformance.specimens.memory_pool_profiles import memory_pool_profile_subjects
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.small_memory_pool import (
    PROFILE,
    SmallMemoryPool,
    small_pool_subject,
)
from purgatory_conformance.specimens.wrong import granting, releasing
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.support.support import Candidate
from purgatory_spec.profiles import Component, MemoryPoolProfile, ReleaseValidation
from purgatory_spec.requirements import Level, requirements

MOST_CASES = 500
MOST_STEPS = 8

RULES = {r.id for r in requirements(Component.MEMORY_POOL) if r.level is Level.MUST}


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


def profile_of(subject: Subject) -> MemoryPoolProfile:
    return narrowed(subject.profiles[Component.MEMORY_POOL], MemoryPoolProfile)


def drawn(subject: Subject, seed: int) -> Candidate:
    source = SeededSource(seed)
    profile = profile_of(subject)
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
            return run_of(subject, reduce_case(profile_of(subject), case, fails, 3000))
    return None


@pytest.mark.parametrize("mutant", memory_pool_mutants(), ids=lambda mutant: mutant.name)
def test_mutant_is_caught_and_blamed_on_its_rule(mutant: Mutant) -> None:
    """
    Given a memory pool that breaks one rule
    When generated cases run until one fails, and that one is reduced
    Then what is left diverges by that rule
    """
    run = shrunk_failure(mutant.make())
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule in (mutant.rule, *mutant.also)
    assert len(run.steps) <= MOST_STEPS


def test_each_rule_is_broken_by_a_mutant_of_its_own() -> None:
    """
    Given the mutants
    When the rules that they break are compared with the rules there are
    Then all are broken, and each mutant has a name and a summary
    """
    mutants = memory_pool_mutants()
    assert {mutant.rule for mutant in mutants} == RULES
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(mutant.summary for mutant in mutants)
    assert {mutant.component for mutant in mutants} == {Component.MEMORY_POOL}


SILENT = msgspec.structs.replace(PROFILE, observables=frozenset())
"""The profile of a pool that shows nothing but what its operations answer."""

VISIBLE_BY_ANSWERS = (
    (granting.StrictIgnoresSize, "POOL-STRICT"),
    (granting.NonStrictWantsAll, "POOL-NON-STRICT"),
    (granting.AdmitsAtZero, "POOL-BOUND"),
    (granting.RefusalDebits, "POOL-REFUSAL"),
    (granting.NegativeChanges, "POOL-NEGATIVE-REQUEST"),
    (granting.ZeroRefused, "POOL-ZERO-REQUEST"),
    (granting.OversizeGranted, "POOL-OVERSIZE-REQUEST"),
    (releasing.ReleaseForgets, "POOL-RELEASE"),
    (releasing.FirstByteStays, "POOL-RELEASE"),
    (releasing.ReleaseTwice, "POOL-RELEASE-AGAIN"),
    (releasing.SliceFreesBuffer, "POOL-RELEASE-SLICE"),
    (releasing.EqualIsTaken, "POOL-RELEASE-COPY"),
    (releasing.ForeignIsCredited, "POOL-RELEASE-FOREIGN"),
    (releasing.LeakIsLost, "POOL-LEAK"),
)


@pytest.mark.parametrize(
    ("pool", "rule"), VISIBLE_BY_ANSWERS, ids=lambda value: getattr(value, "__name__", None)
)
def test_answers_alone_name_the_rule(pool: type[SmallMemoryPool], rule: str) -> None:
    """
    Given a wrong pool that does not show what is available
    When generated cases run until one fails, and that one is reduced
    Then it diverges by its rule: what was done before is the evidence
    """
    run = shrunk_failure(small_pool_subject(pool, profile=SILENT))
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule == rule


@pytest.mark.parametrize("each", memory_pool_profile_subjects(), ids=lambda each: each.name)
def test_profile_subject_conforms_as_declared(each: ProfileSubject) -> None:
    """
    Given a tiny pool that declares a legal choice and keeps to it
    When generated cases run
    Then all of them pass
    """
    subject = each.make()
    for seed in range(80):
        run = run_of(subject, drawn(subject, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence


STRICTER = [each for each in memory_pool_profile_subjects() if each.sibling_rule]
WEAKER = [each for each in memory_pool_profile_subjects() if not each.sibling_rule]


@pytest.mark.parametrize("each", STRICTER, ids=lambda each: each.name)
def test_sibling_fails_for_the_named_rule(each: ProfileSubject) -> None:
    """
    Given the same pool declared under the other choice
    When generated cases run until one fails, and that one is reduced
    Then it diverges by the rule of that choice
    """
    run = shrunk_failure(each.sibling())
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule == each.sibling_rule


@pytest.mark.parametrize("each", WEAKER, ids=lambda each: each.name)
def test_sibling_that_declares_less_conforms(each: ProfileSubject) -> None:
    """
    Given a pool that keeps to more than it declares
    When generated cases run
    Then all of them pass: declaring less is no fault
    """
    subject = each.sibling()
    verdicts = {run_of(subject, drawn(subject, seed)).verdict for seed in range(80)}
    assert verdicts == {CaseVerdict.PASS}


def test_each_choice_has_a_subject() -> None:
    """
    Given the choices that parameterise the model's predictions
    When the profile subjects are made
    Then each value is declared by one of them
    """
    declared = [profile_of(each.make()) for each in memory_pool_profile_subjects()]
    assert {profile.release_validation for profile in declared} == set(ReleaseValidation)
