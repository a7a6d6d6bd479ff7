"""The profile under which a subject is conformant, and for each changed line a case that needs it.

Cases are drawn for the present profile; failing ones are shrunk, so that each needs one change,
rarely two. The fewest changes are taken that together explain the cases of all rounds, and the
next round draws cases for the changed profile, until none fails.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from purgatory_conformance.running.campaign import Budget, drawn_case
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.joint_search import JointSearch
from purgatory_conformance.running.profile_changes import Change, Cost, under
from purgatory_conformance.running.profile_search import ProfileSearch
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import Deviation
from purgatory_spec.profiles import Component, Profile, component_of

_MOST_ROUNDS = 8
"""The most rounds of cases, each for the profile that the round before has found."""

_MOST_FAILING = 12
"""The most failing cases of a round that are shrunk."""

_MOST_ALIKE = 3
"""The most failing cases of a round that are shrunk for one rule."""

_FEWER = 2 / 3
"""The share of the failing cases that may be left by a change, where some are left in any event."""

_MOST_CHANGES = 6
"""The most changes that are sought."""


@dataclass(frozen=True)
class Evidence:
    """A change, the rule that is broken without it, and the smallest case that shows this."""

    change: Change
    rule: str
    run: CaseRun


@dataclass(frozen=True)
class Proposal:
    """The changes to declare with their evidence, and the cases that no change explains."""

    profile: Profile
    evidence: tuple[Evidence, ...] = ()
    unexplained: tuple[CaseRun, ...] = ()


def proposal(
    subject: Subject,
    component: Component,
    *,
    seed: int,
    budget: Budget,
    deviations: tuple[Deviation, ...] = (),
    failing: Sequence[CaseRun] = (),
) -> Proposal:
    """Return the fewest changes of a subject's profile under which no case of a number fails.

    Args:
        subject: The subject, which is asked again and stays open.
        component: The component whose profile is wanted.
        seed: Equal seeds give equal cases.
        budget: The cases of a round, and the runs in which a failing one is shrunk.
        deviations: The deviations that are declared.
        failing: Cases that are known to fail by what the subject declares.
    """
    search = _Search(subject, subject.profiles[component], seed, budget, deviations)
    search.found += failing
    changes: tuple[Change, ...] = ()
    fresh: list[CaseRun] = []
    for _ in range(_MOST_ROUNDS):
        fresh = search.failing_under(changes)
        search.found += fresh
        better = search.search.fewest(search.found, _MOST_CHANGES)
        if not fresh or better == changes:
            break
        changes = better
        if search.unexplained(changes):
            break  # of a fault, further rounds show no more than the same
    if fresh:
        changes = search.helping(changes)
    return search.proposed(changes)


@dataclass
class _Search:
    """The subject, its own profile, and the failing cases of all rounds, shrunk."""

    subject: Subject
    profile: Profile
    seed: int
    budget: Budget
    deviations: tuple[Deviation, ...]
    found: list[CaseRun] = field(default_factory=list)

    @cached_property
    def search(self) -> ProfileSearch:
        """Return the search for the changes that explain what was found."""
        return ProfileSearch(self.subject, self.profile, self.deviations)

    def failing_under(self, changes: tuple[Change, ...]) -> list[CaseRun]:
        """Return failing cases of a round under these changes, shrunk within their rules."""
        profile = under(self.profile, changes)
        asked, found = DeclaredAs(self.subject, profile), list[CaseRun]()
        for run in self._failing(asked, profile):
            rule = run.divergence.rule if run.divergence else ""
            if sum(each.breaks(rule) for each in found) < _MOST_ALIKE:
                found.append(self._shrunk(asked, profile, run, rule))
            if len(found) >= _MOST_FAILING:
                break
        return found

    def helping(self, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """Return the changes without which many more cases fail, where some fail in any event.

        A fault breaks several rules, and a choice may explain one of them by chance.
        """
        for change in reversed(changes):
            others = tuple(each for each in changes if each != change)
            if self._number_failing(changes) > _FEWER * self._number_failing(others):
                changes = others
        return changes

    def proposed(self, changes: tuple[Change, ...]) -> Proposal:
        """Return the changes that some case needs, each with its case, and what stays broken."""
        joint = self.search.joint(self.found, _MOST_CHANGES, max(Cost))
        evidence = tuple(self._evidence(joint, changes))
        return Proposal(under(self.profile, changes), evidence, self.unexplained(changes))

    def unexplained(self, changes: tuple[Change, ...]) -> tuple[CaseRun, ...]:
        """Return the cases that fail under some changes as well."""
        joint = self.search.joint(self.found, _MOST_CHANGES, max(Cost))
        cases = (case for cases in joint.groups for case in cases)
        return tuple(case.run for case in cases if not joint.passes(case, changes))

    def _evidence(
        self, joint: JointSearch[Change], changes: tuple[Change, ...]
    ) -> Iterator[Evidence]:
        for change in changes:
            needing = joint.needing(change, changes)
            if needing:
                others = tuple(each for each in changes if each != change)
                smallest = min(needing, key=lambda case: len(case.steps))
                asked = DeclaredAs(self.subject, under(self.profile, others))
                run = self._run(asked, _candidate(smallest.run))
                yield Evidence(change, joint.end(smallest, others).rule, run)

    def _failing(self, asked: Subject, profile: Profile) -> Iterator[CaseRun]:
        """Yield the cases of a round that fail under a profile."""
        support = support_of(component_of(profile))
        for number in range(self.budget.least_cases):
            case = drawn_case(support, profile, f"{self.seed}-{number}", self.budget, frozenset())
            run = self._run(asked, case)
            if run.verdict is CaseVerdict.FAIL:
                yield run

    def _number_failing(self, changes: tuple[Change, ...]) -> int:
        profile = under(self.profile, changes)
        return sum(1 for _ in self._failing(DeclaredAs(self.subject, profile), profile))

    def _shrunk(self, asked: Subject, profile: Profile, run: CaseRun, rule: str) -> CaseRun:
        def fails(case: Candidate) -> bool:
            return self._run(asked, case).breaks(rule)

        case = reduce_case(profile, _candidate(run), fails, self.budget.shrink_runs)
        return self._run(asked, case)

    def _run(self, subject: Subject, case: Candidate) -> CaseRun:
        return run_case(subject, "tried", case.configuration, case.operations, self.deviations)


def _candidate(run: CaseRun) -> Candidate:
    return Candidate(run.configuration, tuple(step.operation for step in run.steps))
