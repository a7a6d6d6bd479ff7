"""The search for the changes of a profile that together explain failing cases, cheapest first.

A case is followed to its failing step. What a change no longer lets the suite ask is left out of
the case, and the subject is asked again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.running.joint_search import (
    NO_RULE,
    End,
    JointSearch,
    Recorded,
    end_of,
)
from purgatory_conformance.running.profile_changes import Change, Cost, changes_of, under
from purgatory_conformance.running.withdrawn_features import without
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.case_judge import Deviation
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Configuration, Profile, component_of


@dataclass(frozen=True)
class ProfileSearch:
    """The subject with the profile that it declares, and the deviations."""

    subject: Subject
    profile: Profile
    deviations: tuple[Deviation, ...]
    _recorded: dict[int, Recorded] = field(default_factory=dict)

    def joint(self, runs: Iterable[CaseRun], most: int, dearest: Cost) -> JointSearch[Change]:
        """Return the search among the changes that cost no more, of which each case needs some."""
        groups: list[tuple[Recorded]] = []
        operations: list[Operation] = []
        for run in sorted(runs, key=lambda run: len(run.steps)):
            groups.append((self._recorded.setdefault(id(run), Recorded(run, run.steps)),))
            operations += run.operations
        changes = [each for each in changes_of(self.profile, operations) if each.cost <= dearest]
        return JointSearch(groups, changes, self._ending, Change.agrees, most)

    def fewest(self, runs: Sequence[CaseRun], most: int) -> tuple[Change, ...]:
        """Return the fewest changes of the lowest cost that explain all cases, or the most."""
        for cost in Cost:
            joint = self.joint(runs, most, cost)
            changes = joint.fewest()
            if joint.explained(changes) == len(joint.groups):
                break
        return changes

    def _ending(self, case: Recorded, changes: tuple[Change, ...]) -> End:
        profile = under(self.profile, changes)
        if problem_of(profile):
            return End(NO_RULE)
        if any(each.cost is Cost.ASKED_FOR_LESS for each in changes):
            case = self._asked_for_less(case.run, changes, profile)
        return end_of(case, profile, self.deviations)

    def _asked_for_less(
        self, run: CaseRun, changes: tuple[Change, ...], profile: Profile
    ) -> Recorded:
        """Return a case without what some changes leave out, as the subject answers it."""
        operations = tuple(step.operation for step in run.steps)
        for change in changes:
            operations = without(change.withdraws, operations)
        operations = usable(profile, run.configuration, operations)
        again = run_case(self.subject, "asked less", run.configuration, operations)
        return Recorded(replace(run, operations=operations), again.steps)


def usable(
    profile: Profile, configuration: Configuration, operations: tuple[Operation, ...]
) -> tuple[Operation, ...]:
    """Return the operations, less the ones that the earlier operations rule out."""
    support = support_of(component_of(profile))
    if support.usable(profile, Candidate(configuration, operations)):
        return operations
    kept: tuple[Operation, ...] = ()
    for operation in operations:
        longer = (*kept, operation)
        if support.usable(profile, Candidate(configuration, longer)):
            kept = longer
    return kept
