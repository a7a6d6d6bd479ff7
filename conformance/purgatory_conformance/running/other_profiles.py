"""Whether what looks like a failure is a choice that was not declared."""

from collections.abc import Sequence

from purgatory_conformance.judging.case_judge import Deviation
from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.subjects.subject import (
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Support
from purgatory_spec.cases import Step
from purgatory_spec.profiles import Profile, component_of

_MOST_CASES = 40


def explaining_profiles(
    subject: Subject, failing: Sequence[CaseRun], deviations: tuple[Deviation, ...]
) -> list[str]:
    """The other choices under which all failing cases pass; the cases are run once more, whole."""
    recorded: list[tuple[CaseRun, list[Step]]] = []
    try:
        for run in failing[:_MOST_CASES]:
            subject.new(run.name, run.configuration)
            outcomes = subject.do_all(run.operations)
            steps = [
                Step(operation, outcome)
                for operation, outcome in zip(run.operations, outcomes, strict=True)
            ]
            subject.end()
            recorded.append((run, steps))
    except (SubjectFailure, UnsupportedConfigurationError):
        return []
    component = component_of(failing[0].configuration)
    support = support_of(component)
    return [
        words
        for words, profile in support.alternatives(profile_of(subject, component))
        if all(_passes(support, run, steps, profile, deviations) for run, steps in recorded)
    ]


def _passes(
    support: Support,
    run: CaseRun,
    steps: list[Step],
    profile: Profile,
    deviations: tuple[Deviation, ...],
) -> bool:
    judge = support.judge(run.configuration, profile, deviations)
    for step in steps:
        assert step.outcome is not None
        if judge.step(step.operation, step.outcome).divergence is not None:
            return False
    return True
