"""Demonstrations of the rules: the steps of a vector on which a wrong implementation goes wrong.

Of the vectors of a rule, the shortest that a mutant of that rule fails is taken. Its steps are left
out one at a time as long as the mutant still breaks the rule, so that few are left to be read.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import product

from purgatory_conformance.describing.steps import describe_operation, describe_outcome
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.cases import Case
from purgatory_spec.operations import Operation
from purgatory_spec.requirements import component_of_rule

_STEP_S = 5.0
"""The time limit of a step, s: a mutant that hangs demonstrates nothing here."""


@dataclass(frozen=True)
class Demonstration:
    """The steps of a vector on which a mutant breaks a rule.

    Attributes:
        vector: The vector that the steps are a part of.
        mutant: The wrong implementation.
        steps: The steps in words, all but the last one with their outcome.
        expected: The outcome that the rule wants of the last step, in words.
        seen: The outcome that the mutant gives instead, in words.
    """

    vector: Case
    mutant: Mutant
    steps: tuple[str, ...]
    expected: str
    seen: str


@cache
def demonstration(rule: str) -> Demonstration | None:
    """Return the demonstration of a rule; None where no mutant fails one of its vectors."""
    component = component_of_rule(rule)
    named = [each for each in vectors(component) if rule in each.header.rules]
    wrong = [each for each in mutants() if each.rule == rule]
    # Our own mutants come before reported ones, which have a place of their own on the page.
    ordered = sorted(wrong, key=lambda each: bool(each.report))
    for mutant, vector in product(ordered, sorted(named, key=lambda each: len(each.steps))):
        with closing(GuardedSubject(mutant.make(), _STEP_S)) as subject:
            run = _shortest(subject, vector, rule)
            if run is not None and run.divergence is not None:
                steps = tuple(_steps(run))
                told = run.divergence.expected, run.divergence.seen
                return Demonstration(vector, mutant, steps, *told)
    return None


def _shortest(subject: Subject, vector: Case, rule: str) -> CaseRun | None:
    """Return the run of the fewest steps that breaks the rule; None where the vector does not."""
    operations = vector.operations
    run = _broken(subject, vector, operations, rule)
    at = 0
    while run is not None and at < len(run.steps):
        operations = tuple(step.operation for step in run.steps)
        fewer = _broken(subject, vector, operations[:at] + operations[at + 1 :], rule)
        run, at = (run, at + 1) if fewer is None else (fewer, 0)
    return run


def _broken(
    subject: Subject, vector: Case, operations: tuple[Operation, ...], rule: str
) -> CaseRun | None:
    """Return the run of some operations if it can be asked for, and breaks the rule."""
    asked = Candidate(vector.header.configuration, operations)
    profile = profile_of(subject, vector.component)
    if not operations or not support_of(vector.component).usable(profile, asked):
        return None
    run = run_case(subject, vector.header.case, asked.configuration, operations)
    return run if run.breaks(rule) else None


def _steps(run: CaseRun) -> Iterator[str]:
    """Yield the steps in words; what comes of the last one is told beside it."""
    for step in run.steps[:-1]:
        came = describe_outcome(step.operation, step.outcome) if step.outcome else ""
        yield f"{describe_operation(step.operation)} → {came}"
    yield describe_operation(run.steps[-1].operation)
