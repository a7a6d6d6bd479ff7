"""Declarations that explain a failure: a choice of the profile, or a known deviation.

Three things are tried on the failing cases of a cause: another value of the profile, one feature
withdrawn, one variant of the model. What makes most of the cases pass is a way out. One by which
the suite judges less stands last, says which rules go, and asks for a promise in the documentation.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.joint_search import LARGE_MAJORITY, Recorded, end_of, is_most
from purgatory_conformance.running.profile_changes import (
    WITHDRAWN_BY_DESIGN,
    Cost,
    changes_of,
    not_judged,
    under,
)
from purgatory_conformance.running.profile_search import usable
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
from purgatory_spec.cases import Step
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Profile, component_of
from purgatory_spec.requirements import all_requirements

_AT_FAILURE = 0.6
"""The share of cases that follow a variant in the failing step, where several faults may meet."""

_MOST_CASES = 100
_MOST_CASES_WITHOUT = 20
_MOST_FEATURES = 4

_THROWING = "script_throw"
_SEVERE = "script_throw_severe"
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
"""The anchors in ``docs/findings.md`` of the implementations that follow a variant."""


@dataclass(frozen=True)
class WayOut:
    """A declaration, and the number of a cause's failing cases that pass under it.

    ``line`` is the profile's line to change; ``variant`` the one to declare a deviation by, and
    ``finding`` the section of ``docs/findings.md`` about it. ``weakens`` are the rules that no
    longer apply under it, or that no case can break any more. Each may be empty.
    """

    words: str
    line: str = ""
    variant: str = ""
    reason: str = ""
    finding: str = ""
    weakens: tuple[str, ...] = ()


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
    search = _Search(subject, support, profile, deviations, recorded, len(different))
    found = (*search.choices(rule), *search.variants(rule), *search.features(rule, passing))
    return tuple(sorted(found, key=lambda way: bool(way.weakens)))


def _record(subject: Subject, run: CaseRun) -> Recorded:
    """Ask a subject for all operations of a failing case, also behind the failing step.

    Raises:
        SubjectFailure: the subject gave no answer.
    """
    subject.new(run.name, run.configuration)
    outcomes = subject.do_all(run.operations)
    steps = [Step(op, outcome) for op, outcome in zip(run.operations, outcomes, strict=True)]
    subject.end()
    return Recorded(run, steps)


@dataclass(frozen=True)
class _Search:
    """The recorded cases, and what they are judged under."""

    subject: Subject
    support: Support
    profile: Profile
    deviations: tuple[Deviation, ...]
    recorded: Sequence[Recorded]
    failing: int
    """The number of failing cases, of which as many were recorded as are tried at most."""

    def choices(self, rule: str) -> Iterator[WayOut]:
        """Yield the other values of the profile under which most cases pass."""
        operations = [operation for each in self.recorded for operation in each.run.operations]
        for change in changes_of(self.profile, operations):
            profile = under(self.profile, [change])
            if change.cost is Cost.ASKED_FOR_LESS or problem_of(profile):
                continue
            if broken := self._if_most_pass(profile, self.deviations):
                weakens = not_judged(self.profile, profile)
                if change.cost is not Cost.NOTHING:
                    weakens = weakens or (rule,)
                asks = "if that is your design, declare it"
                if weakens:
                    asks = (
                        f"{_some(weakens)} can then no longer be broken: declare it only if your "
                        "documentation promises it, and note the line that does"
                    )
                yield WayOut(
                    f"{self._so_many(broken)} under {change.words}{_the_others(broken)}; {asks}",
                    line=change.line,
                    weakens=weakens,
                )

    def variants(self, rule: str) -> Iterator[WayOut]:
        """Yield the variants of the model that most cases follow, at least in the failing step.

        What comes behind that step may be another deviation. Variants that most cases follow to
        their ends come first, and of these, and of the others, those that allow least.
        """
        if any(deviation.rule == rule for deviation in self.deviations):
            return
        at_failure: list[WayOut] = []
        until_failure = [Recorded(each.run, each.run.steps) for each in self.recorded]
        for variant, sentence in self.support.judged.variants.items():
            deviations = (*self.deviations, Deviation(rule, variant))
            way = WayOut("", "", variant, sentence, FINDINGS.get(variant, ""))
            if broken := self._if_most_pass(self.profile, deviations):
                words = f"{self._so_many(broken)} as the known deviation {variant}"
                yield replace(
                    way, words=f"{words}{_the_others(broken)}; if you keep it, declare it"
                )
            elif self._if_most_pass(self.profile, deviations, until_failure, _AT_FAILURE):
                words = (
                    f"the failing step is that of the known deviation {variant}, and other faults "
                    "come behind it: have 'purgatory deviations propose' look for them all; if you "
                    "keep it, declare it"
                )
                at_failure.append(replace(way, words=words))
        yield from at_failure

    def features(self, rule: str, passing: Sequence[CaseRun]) -> Iterator[WayOut]:
        """Yield the few features without which most cases pass, if most cases that use them fail.

        A feature that the rule is about is tried however many cases with it pass, where a design
        may lack it: an exception may do harm in one callback alone. Severe ones go before all.
        """
        failing = [each.run for each in self.recorded]
        suspects = []
        for feature in sorted(each.value for each in self.profile.features):
            users = sum(_uses(feature, run) for run in failing)
            others = sum(_uses(feature, run) for run in passing)
            about = feature in WITHDRAWN_BY_DESIGN and users > 0 and _is_about(rule, feature)
            if about or is_most(users, users + others):
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
            best = max(tried, key=lambda name: (tried[name].count(""), name == _SEVERE))
            withdrawn = (*withdrawn, best)
            broken = tried[best]
            if is_most(broken.count(""), len(broken)):
                words = " and ".join(sorted(withdrawn))
                left = frozenset(each for each in self.profile.features if each not in withdrawn)
                weakens = not_judged(self.profile, structs.replace(self.profile, features=left))
                then = f", with {_some(weakens)} not judged" if weakens else ""
                yield WayOut(
                    f"{self._so_many(broken)} without {words}{_the_others(broken)}{then}; "
                    f"if you do not offer that, withdraw {words}",
                    weakens=weakens,
                )
                return

    def _without(self, features: Sequence[str], run: CaseRun) -> str:
        """Return the rule that a case breaks without features; empty for none, or a verdict."""
        operations = run.operations
        for feature in features:
            operations = without(feature, operations)
        case = Candidate(run.configuration, usable(self.profile, run.configuration, operations))
        again = run_case(
            self.subject, run.name, case.configuration, case.operations, self.deviations
        )
        if again.verdict in (CaseVerdict.PASS, CaseVerdict.DEVIATES):
            return ""
        return again.divergence.rule if again.divergence else again.verdict.value

    def _so_many(self, broken: Sequence[str]) -> str:
        """Return the share of the tried cases that pass, in words."""
        passed, number = broken.count(""), len(broken)
        tried = "" if number == self.failing else " that were tried"
        if passed < number:
            return f"{passed} of {number} failing cases{tried} pass"
        return f"all {number} failing cases{tried} pass" if number > 1 else "it passes"

    def _if_most_pass(
        self,
        profile: Profile,
        deviations: tuple[Deviation, ...],
        recorded: Sequence[Recorded] = (),
        share: float = LARGE_MAJORITY,
    ) -> list[str]:
        """Return the rule each recorded case breaks; nothing where fewer than a share pass.

        Ends with the case after which most can no longer pass: few declarations are a way out.
        """
        broken: list[str] = []
        recorded = recorded or self.recorded
        number = len(recorded)
        for each in recorded:
            try:
                broken.append(end_of(each, profile, deviations).rule)
            except ValueError:
                return []  # a declared variant has no model of this profile
            if number - len(broken) + broken.count("") < share * number:
                return []
        return broken


def _is_about(rule: str, feature: str) -> bool:
    """Decide whether a rule is about a feature; severe exceptions are exceptions."""
    feature = _THROWING if feature == _SEVERE else feature
    return f"`features has {feature}`" in _CONDITIONS.get(rule, "")


def _uses(feature: str, run: CaseRun) -> bool:
    """Decide whether a case had come to use a feature when it ended."""
    reached: tuple[Operation, ...] = tuple(step.operation for step in run.steps)
    return without(feature, reached) != reached


def _some(rules: Sequence[str]) -> str:
    """Return some rules in words, and how many more there are."""
    more = f" and {len(rules) - 3} more rules" if len(rules) > 3 else ""
    return f"{', '.join(rules[:3])}{more}"


def _the_others(broken: Sequence[str]) -> str:
    """Return the rules that the other cases break, in words; empty where all pass."""
    rules = Counter(rule for rule in broken if rule)
    if not rules:
        return ""
    told = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common(3))
    return f" (the others then break {told})"
