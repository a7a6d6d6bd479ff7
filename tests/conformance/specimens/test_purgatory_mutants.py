"""The suite catches each of its own wrong purgatories, and blames it on the right rule."""

import msgspec
import pytest

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.purgatory_mutants import purgatory_mutants
from purgatory_conformance.specimens.purgatory_profiles import purgatory_profile_subjects
from purgatory_conformance.specimens.small_purgatory import (
    PROFILE,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.wrong import checking, completing, counting
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.profiles import (
    Accounting,
    AlreadyDue,
    CheckDrops,
    Component,
    Executor,
    NegativeDelay,
    PurgatoryProfile,
    Rounding,
    SameTickOrder,
    Structure,
    ThrowingTry,
)
from purgatory_spec.requirements import requirements_of_steps

MOST_CASES = 2000
SUPPORT = support_of(Component.PURGATORY)


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


def drawn(subject: Subject, seed: int) -> Candidate:
    profile, source = profile_of(subject, Component.PURGATORY), SeededSource(seed)
    configuration = SUPPORT.draw_configuration(profile, source, frozenset())
    operations = SUPPORT.draw_operations(
        configuration, profile, source, most=50, wanted=frozenset()
    )
    return Candidate(configuration, operations)


def shrunk_failure(subject: Subject) -> CaseRun | None:
    """The first failing case of a subject, reduced; None where it passes them all."""

    def fails(case: Candidate) -> bool:
        return run_of(subject, case).verdict is CaseVerdict.FAIL

    profile = profile_of(subject, Component.PURGATORY)
    for seed in range(MOST_CASES):
        case = drawn(subject, seed)
        if fails(case):
            return run_of(subject, reduce_case(profile, case, fails, 3000))
    return None


@pytest.mark.parametrize("mutant", purgatory_mutants(), ids=lambda mutant: mutant.name)
def test_mutant_is_caught_and_blamed_on_its_rule(mutant: Mutant) -> None:
    """
    Given a purgatory that breaks one rule
    When generated cases run until one fails, and that one is reduced
    Then what is left is short, and diverges by that rule
    """
    run = shrunk_failure(mutant.make())
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule in (mutant.rule, *mutant.also)
    assert len(run.steps) <= 7


INLINE = (
    (completing.ExpirationFirst, "PURGATORY-CALLBACK-ORDER"),
    (completing.TimeOutLate, "PURGATORY-TIME-OUT"),
    (completing.LostExpiryExpires, "PURGATORY-LOST-EXPIRY"),
    (completing.ExpiryThrowLosesQueue, "PURGATORY-EXPIRY-THROWS"),
    (completing.ExpirationDespiteThrow, "PURGATORY-CALLBACK-THROWS"),
    (checking.CancelForKeyInsideLost, "PURGATORY-CANCEL-INSIDE"),
    (counting.NeverPurges, "PURGATORY-PURGE-START"),
)
"""Wrong purgatories whose executor runs inline, with the rule that is to blame."""


@pytest.mark.parametrize(("make", "rule"), INLINE, ids=lambda each: getattr(each, "__name__", None))
def test_inline_executor_names_the_rule(make: type[SmallPurgatory], rule: str) -> None:
    """
    Given a wrong purgatory whose advance runs what it expires
    When generated cases run until one fails, and that one is reduced
    Then it diverges by its rule although expiries are not seen
    """
    profile = msgspec.structs.replace(PROFILE, executor=Executor.INLINE)
    run = shrunk_failure(small_purgatory(make, profile))
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule == rule


def test_mutants_have_names_of_their_own() -> None:
    """
    Given the mutants of all components
    When their names are compared
    Then no two are equal, and each purgatory says in a sentence what is wrong with it
    """
    names = [mutant.name for mutant in mutants()]
    assert len(names) == len(set(names))
    assert all(mutant.summary for mutant in purgatory_mutants())
    assert {mutant.component for mutant in purgatory_mutants()} == {Component.PURGATORY}


def test_each_rule_is_broken_by_a_mutant() -> None:
    """
    Given the wrong purgatories
    When the rules that they break are compared with the rules there are
    Then none is missing
    """
    rules = {rule.id for rule in requirements_of_steps(Component.PURGATORY)}
    assert {mutant.rule for mutant in purgatory_mutants()} == rules
    assert {rule for mutant in purgatory_mutants() for rule in mutant.also} <= rules


SUBJECTS = purgatory_profile_subjects()


@pytest.mark.parametrize("each", SUBJECTS, ids=lambda each: each.name)
def test_profile_subject_conforms_as_declared(each: ProfileSubject) -> None:
    """
    Given a purgatory that declares a legal choice and keeps to it
    When generated cases run
    Then all of them pass
    """
    subject = each.make()
    for seed in range(40):
        run = run_of(subject, drawn(subject, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence


@pytest.mark.parametrize("each", SUBJECTS, ids=lambda each: each.name)
def test_sibling_fails_for_the_named_rule(each: ProfileSubject) -> None:
    """
    Given the same purgatory declared under the other choice
    When generated cases run until one fails, and that one is reduced
    Then it diverges by the rule of that choice; where the other choice asks for less it conforms
    """
    subject = each.sibling()
    if not each.sibling_rule:
        verdicts = {run_of(subject, drawn(subject, seed)).verdict for seed in range(40)}
        assert verdicts == {CaseVerdict.PASS}
        return
    run = shrunk_failure(subject)
    assert run is not None
    assert run.divergence is not None
    assert run.divergence.rule == each.sibling_rule


def test_each_choice_has_a_subject() -> None:
    """
    Given the choices that parameterise the model's predictions
    When the profile subjects are made
    Then each value of each choice is declared by one of them; no purgatory runs on threads here
    """
    profiles: list[PurgatoryProfile] = []
    for each in SUBJECTS:
        profile = profile_of(each.make(), Component.PURGATORY)
        assert isinstance(profile, PurgatoryProfile)
        profiles.append(profile)
    assert {profile.accounting for profile in profiles} == set(Accounting)
    assert {profile.check_drops for profile in profiles} == set(CheckDrops)
    assert {profile.already_due for profile in profiles} == set(AlreadyDue)
    assert {profile.negative_delay for profile in profiles} == set(NegativeDelay)
    assert {profile.throwing_try for profile in profiles} == set(ThrowingTry)
    assert {profile.executor for profile in profiles} == set(Executor) - {Executor.THREAD}
    assert {profile.rounding for profile in profiles} == set(Rounding)
    assert {profile.same_tick_order for profile in profiles} == set(SameTickOrder)
    assert {profile.structure for profile in profiles} == set(Structure)
