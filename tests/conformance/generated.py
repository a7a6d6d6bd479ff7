"""Generated cases, and subjects that are judged by them, whatever their component is."""

from functools import lru_cache

from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.judgement import Divergence
from purgatory_spec.profiles import Component, Profile

MOST_CASES = 3000
MOST_STEPS = {
    Component.TIMER: 7,
    Component.PURGATORY: 7,
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


def run_of(subject: Subject, case: Candidate) -> CaseRun:
    return run_case(subject, "case", case.configuration, case.operations)


def passes(subject: Subject, component: Component, cases: int) -> None:
    """Generated cases run, and all of them pass."""
    profile = profile_of(subject, component)
    for seed in range(cases):
        run = run_of(subject, drawn(component, profile, seed))
        assert run.verdict is CaseVerdict.PASS, run.divergence


def shrunk_divergence(subject: Subject, component: Component) -> Divergence:
    """Where the first failing case of a subject diverges once it is reduced, which is short."""
    profile = profile_of(subject, component)

    def fails(case: Candidate) -> bool:
        return run_of(subject, case).verdict is CaseVerdict.FAIL

    cases = (drawn(component, profile, seed) for seed in range(MOST_CASES))
    failing = next(case for case in cases if fails(case))
    run = run_of(subject, reduce_case(profile, failing, fails, 3000))
    assert len(run.steps) <= MOST_STEPS[component]
    assert run.divergence is not None
    return run.divergence
