"""Whether what looks like a failure is a choice that was not declared."""

from collections.abc import Iterator, Sequence

import msgspec

from purgatory_conformance.judging.case_judge import Deviation, judge_for
from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.subjects.subject import (
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_spec.cases import Step
from purgatory_spec.profiles import (
    NegativeDelay,
    Rounding,
    SameTickOrder,
    Structure,
    TimerProfile,
)

_MOST_CASES = 40


def _alternatives(profile: TimerProfile) -> Iterator[tuple[str, TimerProfile]]:
    """The profiles that differ in one declared choice, each with its words."""
    for rounding in Rounding:
        if rounding is not profile.rounding:
            other = msgspec.structs.replace(profile, rounding=rounding)
            yield f"rounding {rounding.value}", other
    for negative in NegativeDelay:
        if negative is not profile.negative_delay:
            other = msgspec.structs.replace(profile, negative_delay=negative)
            yield f"negative_delay {negative.value}", other
    if profile.same_tick_order is SameTickOrder.FIFO:
        other = msgspec.structs.replace(profile, same_tick_order=SameTickOrder.NONE)
        yield "same_tick_order none", other
    if profile.structure is Structure.TIMING_WHEEL:
        other = msgspec.structs.replace(profile, structure=Structure.ANY)
        yield "structure any", other


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
    return [
        words
        for words, profile in _alternatives(subject.profile)
        if all(_passes(run, steps, profile, deviations) for run, steps in recorded)
    ]


def _passes(
    run: CaseRun, steps: list[Step], profile: TimerProfile, deviations: tuple[Deviation, ...]
) -> bool:
    judge = judge_for(run.configuration, profile, deviations)
    for step in steps:
        assert step.outcome is not None
        if judge.step(step.operation, step.outcome).divergence is not None:
            return False
    return True
