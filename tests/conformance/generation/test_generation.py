"""One table of situations serves the seeded generator and Hypothesis alike."""

from collections import Counter

import pytest
from hypothesis import given, settings

from purgatory_conformance.generation.channel_muting import table as channel_muting
from purgatory_conformance.generation.memory_pool import table as memory_pool
from purgatory_conformance.generation.purgatory import table as purgatory
from purgatory_conformance.generation.timer import table as timer
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case, search_smaller
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.components import narrowed
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Elapse, Operation, operation_name
from purgatory_spec.requirements import requirements_of_steps
from tests.conformance.generated import candidates, drawn

pytestmark = pytest.mark.recorded


def seeded(seed: int, profile: profiles.TimerProfile = PROFILE) -> Candidate:
    return drawn(profiles.Component.TIMER, profile, seed, most=40)


@pytest.mark.parametrize("component", profiles.Component)
def test_equal_seeds_give_equal_cases_which_are_usable(component: profiles.Component) -> None:
    """Equal seeds give equal cases, another seed another one, and a subject can be asked each."""
    profile = bundled_subject().profiles[component]
    assert drawn(component, profile, 3) == drawn(component, profile, 3)
    assert drawn(component, profile, 3) != drawn(component, profile, 4)
    cases = [drawn(component, profile, seed) for seed in range(100)]
    assert all(support_of(component).usable(profile, case) for case in cases)


@pytest.mark.parametrize("feature", [None, *profiles.Feature])
def test_only_declared_features_are_asked_for(feature: profiles.Feature | None) -> None:
    """Given a subject that declares one feature, or none: no operation needs another feature."""
    profile = profiles.TimerProfile(features=frozenset({feature} if feature else ()))
    used: Counter[str] = Counter()
    for seed in range(60):
        case = seeded(seed, profile)
        seen: dict[str, int] = {}
        start_ms = narrowed(case.configuration, profiles.TimerConfiguration).start_ms
        assert start_ms >= 0 or feature is profiles.Feature.NEGATIVE_CLOCK
        for operation in case.operations:
            used[operation_name(operation)] += 1
            if isinstance(operation, Add):
                assert operation.task not in seen or feature is profiles.Feature.READD
                assert seen.get(operation.task, operation.delay_ms) == operation.delay_ms
                assert operation.delay_ms < 2**53 or feature is profiles.Feature.INT64
                seen[operation.task] = operation.delay_ms
                assert not operation.script or str(feature).startswith("script_")
    allowed = {"add", "advance"} | ({feature.value} if feature else set())
    assert set(used) <= allowed
    assert used["add"] > 50
    assert used["advance"] > 50


def test_clock_never_goes_back() -> None:
    """Given many cases, when their readings are followed, none lies before the one before it."""
    for seed in range(200):
        case = seeded(seed)
        now = narrowed(case.configuration, profiles.TimerConfiguration).start_ms
        for operation in case.operations:
            if isinstance(operation, Advance | Elapse):
                assert operation.to_ms >= now
                now = operation.to_ms


TABLES = {
    profiles.Component.TIMER: {
        rule for row in (*timer.TIMER_TABLE, timer.SHUTDOWN_ROW) for rule in row.rules
    },
    profiles.Component.PURGATORY: {
        rule for row in (*purgatory.PURGATORY_TABLE, purgatory.SHUTDOWN_ROW) for rule in row.rules
    },
    profiles.Component.MEMORY_POOL: {
        rule for row in memory_pool.MEMORY_POOL_TABLE for rule in row.rules
    },
    profiles.Component.CHANNEL_MUTING: {
        rule for row in channel_muting.CHANNEL_MUTING_ROWS.values() for rule in row.rules
    },
}
"""The rules that the rows of each component's table are for."""


@pytest.mark.parametrize("component", profiles.Component)
def test_rows_name_rules_that_exist_and_all_rules_have_rows(component: profiles.Component) -> None:
    named = TABLES[component]
    rules = {rule.id for rule in requirements_of_steps(component)}
    assert named <= rules
    assert component is profiles.Component.TIMER or rules - named <= {"PURGATORY-NO-TIME-OUTS"}


@given(candidates(PROFILE, most=15))
@settings(max_examples=60)
def test_the_bundled_timer_passes_what_hypothesis_draws(case: Candidate) -> None:
    """Given cases that Hypothesis draws from the same table: it passes."""
    subject = bundled_subject()
    try:
        run = run_case(subject, "drawn", case.configuration, case.operations)
    finally:
        subject.close()
    assert run.verdict is CaseVerdict.PASS


def test_a_failing_case_is_shrunk_to_its_core() -> None:
    """Shrink the case to two operations: an add that overflows and an advance."""
    subject = mutant("lost-on-cascade").make()
    profile = narrowed(subject.profiles[profiles.Component.TIMER], profiles.TimerProfile)

    def fails(case: Candidate) -> bool:
        run = run_case(subject, "c", case.configuration, case.operations)
        return run.verdict is CaseVerdict.FAIL

    found = next(case for seed in range(99) if fails(case := seeded(seed, profile)))
    reduced = reduce_case(profile, found, fails, 300)
    smallest = search_smaller(profile, reduced, fails, seed=1, most_runs=600)
    assert [operation_name(operation) for operation in smallest.operations] == ["add", "advance"]
    assert smallest.configuration == profiles.TimerConfiguration(1, 2, 0)


@pytest.mark.parametrize(("needed", "others"), [(3, False), (4, True)])
def test_only_for_a_longer_case_are_others_drawn(needed: int, others: bool) -> None:
    """Reduce both to what is needed; other cases than parts of the first are run for one alone."""
    asked: set[str] = set()

    def fails(case: Candidate) -> bool:
        asked.update(map(operation_name, case.operations))
        return len(case.operations) >= needed

    adds = tuple(Add(f"t{number}", 5) for number in range(9))
    found = Candidate(profiles.TimerConfiguration(), adds)
    reduced = reduce_case(PROFILE, found, fails, 750)
    smallest = search_smaller(PROFILE, reduced, fails, seed=1, most_runs=1500)
    assert (len(smallest.operations), asked != {"add"}) == (needed, others)


def test_reduction_keeps_within_its_budget_and_keeps_failing() -> None:
    """Reduce a case to the smallest with enough runs, and to one that still fails with too few."""
    noise: tuple[Operation, ...] = tuple(Add(f"n{i}", 5) for i in range(20))
    case = Candidate(profiles.TimerConfiguration(), (*noise, Add("a", 7), *noise, Advance(99)))
    runs = 0

    def fails(candidate: Candidate) -> bool:
        nonlocal runs
        runs += 1
        has_add = any(isinstance(o, Add) and o.task == "a" for o in candidate.operations)
        return has_add and any(isinstance(o, Advance) for o in candidate.operations)

    smallest = reduce_case(PROFILE, case, fails, 2000)
    assert smallest.operations == (Add("a", 1), Advance(0))
    runs = 0
    some = reduce_case(PROFILE, case, fails, 5)
    assert runs == 5
    assert fails(some)


@pytest.mark.parametrize("clock", profiles.Clock)
def test_negative_delays_that_are_not_offered_are_not_asked_for(clock: profiles.Clock) -> None:
    """Draw no negative delay for a profile that does not offer any, and some for another one."""

    def shortest(negative_delay: profiles.NegativeDelay) -> int:
        profile = profiles.TimerProfile(clock=clock, negative_delay=negative_delay)
        cases = [seeded(seed, profile) for seed in range(60)]
        return min(op.delay_ms for c in cases for op in c.operations if isinstance(op, Add))

    assert shortest(profiles.NegativeDelay.NOT_OFFERED) >= 0
    assert shortest(profiles.NegativeDelay.ALREADY_DUE) < 0
