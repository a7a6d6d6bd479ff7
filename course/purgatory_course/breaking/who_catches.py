"""The catch of a planted defect: rules, a TLA+ counterpart, golden vectors, generated steps.

Each of the four is asked by itself, so that none takes the defect from the next: the vectors run
all of them, and the campaign generates its cases without having run any vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from purgatory_conformance.running.campaign import Budget, Campaign, run_campaign
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.causes import Cause
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_course.breaking.counterparts import counterparts_of
from purgatory_spec.cases import Case
from purgatory_spec.profiles import Component
from purgatory_spec.seeded_defects import SeededDefect

Progress = Callable[[Campaign, str], None]


def _no_progress(campaign: Campaign, phase: str) -> None:
    """Ignore the progress: it is shown to no reader."""


@dataclass(frozen=True)
class VectorCatch:
    """The result of the golden vectors: the number asked, and the failing vectors in order."""

    asked: int
    failing: tuple[CaseRun, ...]


@dataclass(frozen=True)
class Caught:
    """The result for one mutant: its counterparts, vectors and campaign of generated cases.

    ``counterparts`` are the runs of other statements that must fail for the same defect;
    ``campaign`` is one of generated cases alone.
    """

    mutant: Mutant
    counterparts: tuple[SeededDefect, ...]
    vectors: VectorCatch
    campaign: Campaign

    @property
    def blamed(self) -> Cause | None:
        """Return the most frequent cause of failing generated cases, shrunk."""
        return self.campaign.causes[0] if self.campaign.causes else None

    @property
    def by_anybody(self) -> bool:
        """Decide whether the vectors, the campaign or a rule catches the mutant itself."""
        return bool(self.vectors.failing) or self.blamed is not None


def who_catches(
    mutant: Mutant,
    *,
    seed: int,
    budget: Budget,
    vectors: Sequence[Case],
    progress: Progress = _no_progress,
) -> Caught:
    """Ask the counterparts, the vectors and a campaign whether they catch the mutant.

    Args:
        mutant: Whom to catch.
        seed: Of the generated cases; equal seeds give equal cases.
        budget: How many cases to generate at the most, and how long to shrink.
        vectors: The golden cases of the mutant's component.
        progress: Called after every generated case.
    """
    subject = mutant.make()
    try:
        caught_by_vectors = _by_vectors(subject, mutant.component, vectors)
        campaign = run_campaign(
            subject, mutant.component, seed=seed, budget=budget, progress=progress
        )
    finally:
        subject.close()
    return Caught(mutant, counterparts_of(mutant), caught_by_vectors, campaign)


def _by_vectors(subject: Subject, component: Component, vectors: Sequence[Case]) -> VectorCatch:
    """Run every vector that a subject of this profile can be asked."""
    profile = profile_of(subject, component)
    asked = 0
    failing: list[CaseRun] = []
    for vector in vectors:
        operations = support_of(component).suited(vector, profile)
        if operations is None:
            continue
        asked += 1
        run = run_case(subject, vector.header.case, vector.header.configuration, operations)
        if run.verdict in (CaseVerdict.FAIL, CaseVerdict.SUBJECT_FAILED):
            failing.append(run)
    return VectorCatch(asked, tuple(failing))
