"""Generated cases, and subjects that are judged by them, whatever their component is."""

from functools import lru_cache
from itertools import islice

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from purgatory_conformance.generation.source import HypothesisSource, SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.far_advance import with_far_advance
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.judgement import Divergence
from purgatory_spec.profiles import Component, Profile, component_of

MOST_CASES = 3000
MOST_STEPS = {
    Component.TIMER: 7,
    Component.PURGATORY: 8,
    Component.MEMORY_POOL: 8,
    Component.CHANNEL_MUTING: 18,
}
"""Of a case that is reduced to what breaks one rule; a channel takes three steps until it waits."""


@lru_cache(maxsize=10_000)
def drawn(
    component: Component,
    profile: Profile,
    seed: int,
    *,
    most: int = 50,
    wanted: frozenset[str] = frozenset(),
) -> Candidate:
    """Return the generated case of a seed: the same for all subjects of one profile."""
    support, source = support_of(component), SeededSource(seed)
    configuration = support.draw_configuration(profile, source, wanted)
    operations = support.draw_operations(configuration, profile, source, most=most, wanted=wanted)
    return Candidate(configuration, operations)


def candidates(profile: Profile, most: int) -> SearchStrategy[Candidate]:
    """Return generated cases for subjects of one profile as a strategy."""
    support = support_of(component_of(profile))

    @st.composite
    def build(draw: DrawFn) -> Candidate:
        source = HypothesisSource(draw)
        configuration = support.draw_configuration(profile, source, frozenset())
        operations = support.draw_operations(
            configuration, profile, source, most=most, wanted=frozenset()
        )
        return Candidate(configuration, operations)

    return build()


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


def passes(subject: Subject, component: Component, cases: int) -> None:
    """Generated cases run, and all of them pass; a few may go in too many ways to follow."""
    profile = profile_of(subject, component)
    inconclusive = 0
    for seed in range(cases):
        run = run_of(subject, drawn(component, profile, seed))
        inconclusive += run.verdict is CaseVerdict.INCONCLUSIVE
        assert run.verdict in {CaseVerdict.PASS, CaseVerdict.INCONCLUSIVE}, run.divergence
    assert inconclusive <= 1 + cases / 50


def shrunk_divergence(subject: Subject, component: Component) -> Divergence:
    """Return the divergence of a failing case of a subject, once the case is reduced.

    It is the first one, or one of the next two where the first stays long: a campaign shows the
    simplest of what it has met.
    """
    profile, _ = with_far_advance(subject, profile_of(subject, component))

    def fails(case: Candidate) -> bool:
        return run_of(subject, case).verdict is CaseVerdict.FAIL

    cases = (drawn(component, profile, seed) for seed in range(MOST_CASES))
    for failing in islice(filter(fails, cases), 3):
        run = run_of(subject, reduce_case(profile, failing, fails, 3000))
        if len(run.steps) <= MOST_STEPS[component]:
            assert run.divergence is not None
            return run.divergence
    raise AssertionError("no failing case is reduced to few steps")
