"""Variants that together explain the failing cases, and for each of them a case that shows it.

A case is followed to its failing step: what comes behind may be due to a fault that no variant
explains. The variants that allow least come first.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.running.joint_search import (
    NO_RULE,
    End,
    JointSearch,
    Recorded,
    end_of,
)
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import Deviation
from purgatory_judge.registry import judged
from purgatory_spec.profiles import Component, Profile

_MOST_CASES = 8
"""The most cases of a cause that are tried, the shortest ones."""

_MOST_RUNS = 300
"""The most runs in which the case that shows a deviation is made smaller."""


@dataclass(frozen=True)
class Explained:
    """A deviation to declare, and the case that shows it."""

    deviation: Deviation
    run: CaseRun


def explained(
    subject: Subject,
    component: Component,
    failing: Sequence[CaseRun],
    declared: tuple[Deviation, ...] = (),
) -> tuple[Explained, ...]:
    """Return the deviations that explain most cases of the most rules; as few as can be.

    Args:
        subject: The subject, which is asked again.
        component: The component that the cases are of.
        failing: The failing cases. They go by the rule that each breaks, since cases of two
            deviations may have been taken for one cause.
        declared: The deviations that are declared already.
    """
    by_rule: dict[str, list[Recorded]] = {}
    for run in sorted(failing, key=lambda run: len(run.steps)):
        if run.divergence is not None:
            by_rule.setdefault(run.divergence.rule, []).append(Recorded(run, run.steps))
    cases = tuple(tuple(each[:_MOST_CASES]) for each in by_rule.values())
    search = _Search(subject, component, declared, cases)
    return tuple(search.shown(search.joint.fewest()))


@dataclass(frozen=True)
class _Search:
    """The cases by the rule that they were found to break, and what is declared already."""

    subject: Subject
    component: Component
    declared: tuple[Deviation, ...]
    groups: tuple[tuple[Recorded, ...], ...]

    @cached_property
    def joint(self) -> JointSearch[str]:
        """Return the search for the variants that explain the groups together."""
        return JointSearch(self.groups, tuple(judged(self.component).variants), self._ending)

    def shown(self, names: tuple[str, ...]) -> Iterator[Explained]:
        """Yield the deviations of these variants, each under a rule of its own."""
        cases = [each for cases in self.groups for each in cases if self.joint.passes(each, names)]
        found: list[Deviation] = []
        for name in names:
            needing = self.joint.needing(name, names)
            for each in self._by_rule(needing, name, {other.rule for other in found}):
                found.append(self._deviation(each, name))
                yield Explained(found[-1], self._smallest(each, name, names))
                break
        # A variant of a component whose judge puts nothing down to another rule needs each rule.
        for each in cases:
            if end_of(each, self._profile, (*self.declared, *found)).rule:
                alone = [name for name in names if self.joint.passes(each, (name,))]
                if alone and self._rule(each) not in {NO_RULE, *(other.rule for other in found)}:
                    found.append(self._deviation(each, alone[0]))
                    yield Explained(found[-1], self._smallest(each, alone[0], names))

    def _by_rule(
        self, needing: Sequence[Recorded], name: str, taken: set[str]
    ) -> Iterator[Recorded]:
        """Yield the shortest case of each rule that is not taken; of the most frequent rule first.

        Cases that the variant explains by itself are taken where there are some.
        """
        alone = [each for each in needing if self.joint.passes(each, (name,))]
        taken |= {NO_RULE}
        cases = [each for each in alone or needing if self._rule(each) not in taken]
        for rule, _ in Counter(map(self._rule, cases)).most_common():
            yield min(
                (each for each in cases if self._rule(each) == rule),
                key=lambda each: len(each.steps),
            )

    def _smallest(self, case: Recorded, name: str, names: tuple[str, ...]) -> CaseRun:
        """Return the smallest case that breaks the same rule, and that the variant explains."""
        rule = self._rule(case)
        explaining = (name,) if self.joint.passes(case, (name,)) else names

        def is_like(candidate: Candidate) -> bool:
            run = self._run(candidate)
            return run.breaks(rule) and self.joint.passes(Recorded(run, run.steps), explaining)

        whole = Candidate(case.run.configuration, tuple(each.operation for each in case.steps))
        return self._run(reduce_case(self._profile, whole, is_like, _MOST_RUNS))

    def _rule(self, case: Recorded) -> str:
        """Return the rule that a case breaks by what is declared already."""
        return self.joint.end(case, ()).rule

    def _ending(self, case: Recorded, names: tuple[str, ...]) -> End:
        """Return how a case ends under these variants and what is declared already."""
        rule = self._rule(case) if names else ""
        further = [Deviation(rule, name) for name in names]
        try:
            return end_of(case, self._profile, (*self.declared, *further))
        except ValueError:
            return End(NO_RULE)  # a variant has no model of this profile

    def _deviation(self, case: Recorded, name: str) -> Deviation:
        reason = judged(self.component).variants[name]
        return Deviation(self._rule(case), name, reason=reason)

    def _run(self, case: Candidate) -> CaseRun:
        return run_case(self.subject, "shown", case.configuration, case.operations, self.declared)

    @cached_property
    def _profile(self) -> Profile:
        return profile_of(self.subject, self.component)
