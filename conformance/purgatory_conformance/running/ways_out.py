"""Declarations that explain a failure: a choice of the profile, or a known deviation.

Three things are tried on the failing cases of a cause: another value of the profile, one feature
withdrawn, one variant of the model. What makes most of the cases pass is a way out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, is_refused, run_case
from purgatory_conformance.running.withdrawn_features import without
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_conformance.subjects.subject import (
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate, Support
from purgatory_judge.case_judge import Deviation
from purgatory_judge.judgement import TooManyStates
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Configuration, Profile, component_of
from purgatory_spec.requirements import all_requirements

_MOST_CASES = 60
_MOST_CASES_WITHOUT = 20
_MOST_FEATURES = 3
_LARGE_MAJORITY = 0.8

_THROWING = "script_throw"
_CONDITIONS = {rule.id: rule.condition for rule in all_requirements()}

FINDINGS = {
    "long_arithmetic": "huge-delays",
    "taken_after_shutdown": "adds-after-shutdown",
    "stale_uncounted": "stale-operations-that-nobody-counts",
    "time_out_taken_with_key": "an-operation-without-a-time-out-cancelforkey",
    "second_try_unarmed": "an-operation-without-a-time-out-an-exception",
    "open_after_shutdown": "watching-after-shutdown",
    "completed_uncounted": "a-completed-operation-that-the-estimate-leaves-out",
    "completed_watched": "a-completed-operation-in-the-lists",
    "credits_anything": "a-pool-that-grows",
}
"""Where ``docs/findings.md`` tells of the implementations that follow a variant."""


@dataclass(frozen=True)
class WayOut:
    """A declaration, and the number of a cause's failing cases that pass under it.

    ``line`` is the profile's line to change; ``variant`` the one to declare a deviation by, and
    ``finding`` the section of ``docs/findings.md`` about it. Each may be empty.
    """

    words: str
    line: str = ""
    variant: str = ""
    reason: str = ""
    finding: str = ""


@dataclass(frozen=True)
class _Recorded:
    """A failing case carried out to its end."""

    run: CaseRun
    steps: list[Step]


def ways_out(
    subject: Subject,
    rule: str,
    failing: Sequence[CaseRun],
    deviations: tuple[Deviation, ...],
    passing: Sequence[CaseRun] = (),
) -> tuple[WayOut, ...]:
    """Return the declarations under which all failing cases of a rule pass, or most of them.

    Args:
        subject: Whom to ask again.
        rule: The rule that the cases are said to break.
        failing: The failing cases.
        deviations: What is declared already.
        passing: Cases that passed: a feature is offered where most cases with that feature passed.
    """
    different = list({run.name: run for run in failing}.values())
    component = component_of(different[0].configuration)
    support = support_of(component)
    try:
        profile = profile_of(subject, component)
        recorded = [_record(subject, run) for run in different[:_MOST_CASES]]
    except (SubjectFailure, UnsupportedConfigurationError):
        return ()
    search = _Search(subject, support, profile, deviations, recorded)
    return (*search.choices(), *search.features(rule, passing), *search.variants(rule))


def _record(subject: Subject, run: CaseRun) -> _Recorded:
    subject.new(run.name, run.configuration)
    outcomes = subject.do_all(run.operations)
    steps = [Step(op, outcome) for op, outcome in zip(run.operations, outcomes, strict=True)]
    subject.end()
    return _Recorded(run, steps)


@dataclass(frozen=True)
class _Search:
    """The recorded cases, and what they are judged under."""

    subject: Subject
    support: Support
    profile: Profile
    deviations: tuple[Deviation, ...]
    recorded: Sequence[_Recorded]

    def choices(self) -> Iterator[WayOut]:
        """Yield the other values of the profile under which most cases pass."""
        for words, profile in self.support.alternatives(self.profile):
            if problem_of(profile):
                continue
            if broken := self._if_most_pass(profile, self.deviations):
                name, _, value = words.partition(" ")
                yield WayOut(
                    f"{self._so_many(broken)} under {words}{_the_others(broken)}; "
                    "if that is your design, declare it",
                    line=f'"{name}": "{value}"',
                )

    def variants(self, rule: str) -> Iterator[WayOut]:
        """Yield the variants of the model that most cases follow."""
        if any(deviation.rule == rule for deviation in self.deviations):
            return
        for variant, sentence in self.support.judged.variants.items():
            deviations = (*self.deviations, Deviation(rule, variant))
            if broken := self._if_most_pass(self.profile, deviations):
                yield WayOut(
                    f"{self._so_many(broken)} as the known deviation {variant}"
                    f"{_the_others(broken)}; if you keep it, declare it",
                    variant=variant,
                    reason=sentence,
                    finding=FINDINGS.get(variant, ""),
                )

    def features(self, rule: str, passing: Sequence[CaseRun]) -> Iterator[WayOut]:
        """Yield the few features without which most cases pass, if most cases that use them fail.

        Where the rule is about exceptions, ``script_throw`` is tried however many cases with it
        pass: an exception may do harm in one callback alone.
        """
        failing = [each.run for each in self.recorded]
        suspects = []
        for feature in sorted(each.value for each in self.profile.features):
            users = sum(_uses(feature, run) for run in failing)
            others = sum(_uses(feature, run) for run in passing)
            throws = feature == _THROWING and users > 0 and _is_about_exceptions(rule)
            if throws or _is_most(users, users + others):
                suspects.append(feature)
        withdrawn: tuple[str, ...] = ()
        for _ in suspects[:_MOST_FEATURES]:
            tried = {
                feature: [
                    self._without((*withdrawn, feature), run)
                    for run in failing[:_MOST_CASES_WITHOUT]
                ]
                for feature in suspects
                if feature not in withdrawn
            }
            best = max(tried, key=lambda feature: tried[feature].count(""))
            withdrawn = (*withdrawn, best)
            broken = tried[best]
            if _is_most(broken.count(""), len(broken)):
                words = " and ".join(sorted(withdrawn))
                yield WayOut(
                    f"{self._so_many(broken)} without {words}{_the_others(broken)}; "
                    f"if you do not offer that, withdraw {words}"
                )
                return

    def _without(self, features: Sequence[str], run: CaseRun) -> str:
        """Return the rule that a case breaks without features; empty for none, or a verdict."""
        operations = run.operations
        for feature in features:
            operations = without(feature, operations)
        case = Candidate(run.configuration, self._usable(run.configuration, operations))
        again = run_case(
            self.subject, run.name, case.configuration, case.operations, self.deviations
        )
        if again.verdict in (CaseVerdict.PASS, CaseVerdict.DEVIATES):
            return ""
        return again.divergence.rule if again.divergence else again.verdict.value

    def _usable(
        self, configuration: Configuration, operations: tuple[Operation, ...]
    ) -> tuple[Operation, ...]:
        """Return the operations, less the ones that the earlier operations rule out."""
        if self.support.usable(self.profile, Candidate(configuration, operations)):
            return operations
        kept: tuple[Operation, ...] = ()
        for operation in operations:
            longer = (*kept, operation)
            if self.support.usable(self.profile, Candidate(configuration, longer)):
                kept = longer
        return kept

    def _so_many(self, broken: Sequence[str]) -> str:
        """Return the share of the tried cases that pass, in words."""
        passed, number = broken.count(""), len(broken)
        tried = "" if number == len(self.recorded) else " that were tried"
        if passed < number:
            return f"{passed} of {number} failing cases{tried} pass"
        return f"all {number} failing cases{tried} pass" if number > 1 else "it passes"

    def _if_most_pass(self, profile: Profile, deviations: tuple[Deviation, ...]) -> list[str]:
        """Return the rule each recorded case breaks; nothing where most break a rule.

        Ends with the case after which most can no longer pass: few declarations are a way out.
        """
        broken: list[str] = []
        number = len(self.recorded)
        for each in self.recorded:
            try:
                broken.append(self._broken(each, profile, deviations))
            except ValueError:
                return []  # a declared variant has no model of this profile
            if not _is_most(number - len(broken) + broken.count(""), number):
                return []
        return broken

    def _broken(
        self, recorded: _Recorded, profile: Profile, deviations: tuple[Deviation, ...]
    ) -> str:
        """Return the rule that a recorded case breaks under other declarations; empty for none."""
        judge = self.support.judged.judge(recorded.run.configuration, profile, deviations)
        try:
            for step in recorded.steps:
                assert step.outcome is not None
                if is_refused(step.outcome):
                    break
                divergence = judge.step(step.operation, step.outcome).divergence
                if divergence is not None:
                    return divergence.rule
        except TooManyStates:
            return "no rule that can be told"
        return ""


def _is_about_exceptions(rule: str) -> bool:
    """Decide whether a rule is about an exception that a script throws."""
    return f"`features has {_THROWING}`" in _CONDITIONS.get(rule, "")


def _uses(feature: str, run: CaseRun) -> bool:
    """Decide whether a case had come to use a feature when it ended."""
    reached: tuple[Operation, ...] = tuple(step.operation for step in run.steps)
    return without(feature, reached) != reached


def _is_most(passed: int, number: int) -> bool:
    return number > 0 and passed >= _LARGE_MAJORITY * number


def _the_others(broken: Sequence[str]) -> str:
    """Return the rules that the other cases break, in words; empty where all pass."""
    rules = Counter(rule for rule in broken if rule)
    if not rules:
        return ""
    told = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common(3))
    return f" (the others then break {told})"
