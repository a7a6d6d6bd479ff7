"""From failing runs to causes: the first of each kind is carried out again, and shrunk."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.causes import Cause, CauseSearch
from purgatory_conformance.subjects.subject import Subject
from purgatory_judge.case_judge import Deviation
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.isolation import Forbearing
from purgatory_spark.campaigns.merging import Failing

SEEDS_OF_A_GROUP = 4
"""The number of the shortest failing runs of one kind that are carried out again."""

SHRINK_RUNS = 300
"""The most runs that the shrinking of one cause may take."""

_SECONDS_FOR_FAILURES = 60.0


@dataclass
class FirstFailures:
    """The causes of the failing runs that were carried out again.

    Attributes:
        causes: The causes, the most frequent first.
        passing: Groups that did not fail again, though the same was asked.
    """

    causes: list[Cause] = field(default_factory=list)
    passing: list[Failing] = field(default_factory=list)


def first_failures(
    drawing: Drawing,
    groups: Iterable[Failing],
    subject: Subject,
    deviations: tuple[Deviation, ...],
    *,
    getting_on: Callable[[], None] = lambda: None,
) -> FirstFailures:
    """Carry out the shortest runs of each group again, and look for the causes.

    Args:
        drawing: How the runs were drawn.
        groups: The failing runs.
        subject: Whom to ask, in a process of its own.
        deviations: What it is declared to break of the component.
        getting_on: Called before each cause is looked for.
    """
    found = FirstFailures()
    asked = Forbearing(subject, _SECONDS_FOR_FAILURES)
    failing: dict[tuple[str, str], list[CaseRun]] = {}
    for group in groups:
        again = [_again(drawing, seed, asked, deviations) for seed in group.seeds]
        failed = [run for run in again if run.verdict is CaseVerdict.FAIL]
        if not failed or failed[0].divergence is None:
            found.passing.append(group)
            continue
        # Only these few are looked at; the first stands for the others, which are counted.
        same = [run for run in failed if run.breaks(failed[0].divergence.rule)]
        runs = same + [failed[0]] * (group.runs - len(same))
        failing.setdefault(failed[0].divergence.cause, []).extend(runs)
    if failing:
        search = CauseSearch(asked, deviations, drawing.seed, SHRINK_RUNS)
        found.causes = search.causes(failing, getting_on)
    return found


def _again(
    drawing: Drawing, seed: str, subject: Subject, deviations: tuple[Deviation, ...]
) -> CaseRun:
    case = drawing.draw(int(seed.rpartition("-")[2]))
    return run_case(subject, seed, case.configuration, case.operations, deviations)
