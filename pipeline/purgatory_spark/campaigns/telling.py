"""The findings of a campaign in the words and files of ``purgatory check``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from purgatory_conformance.describing.words import counted
from purgatory_conformance.reporting.results import Results, results_of
from purgatory_conformance.running.campaign import (
    Budget,
    Campaign,
    DeviationSeen,
    Verdict,
    conclusion,
)
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure
from purgatory_conformance.version import PACKAGE_VERSION, SUITE_VERSION
from purgatory_judge.case_judge import Deviation
from purgatory_judge.registry import judged
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.first_failures import FirstFailures
from purgatory_spark.campaigns.merging import Unanswered, coverage_of, unanswered
from purgatory_spec.messages import Implementation, schema_digest

_MOST_FAILURES_TOLD = 3


@dataclass
class Found:
    """The findings of a campaign about one component.

    Attributes:
        drawing: How its runs were drawn.
        runs: Their rows.
        deviations: What the subject is declared to break of it.
        failures: The causes.
        replays: The name of each cause's replay file, by the cause's position.
        seconds: How long the runs of all components took, those alone that are of now.
    """

    drawing: Drawing
    runs: pa.Table
    deviations: tuple[Deviation, ...] = ()
    failures: FirstFailures = field(default_factory=FirstFailures)
    replays: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0


def results_about(
    found: Found, opened: OpenSubject, implementation: Implementation, replays: Path
) -> Results:
    """Return the results of which reports are made; ``replays`` is the replay files' folder."""
    return results_of(
        _campaign(found),
        subject=opened.name,
        implementation=implementation,
        profile=found.drawing.profile,
        suite="campaign",
        suite_version=SUITE_VERSION,
        schema=schema_digest(),
        replays={number: str(replays / name) for number, name in found.replays.items()},
        package_version=PACKAGE_VERSION,
        again=opened.again,
    )


def _campaign(found: Found) -> Campaign:
    """Return the findings as a campaign of ``purgatory check`` would hold them at its end."""
    drawing, runs = found.drawing, found.runs
    campaign = Campaign(drawing.component, drawing.seed, Budget(), found.deviations)
    campaign.rules = judged(drawing.component).judged_rules(drawing.profile)
    campaign.cases = runs.num_rows
    campaign.seconds = found.seconds
    campaign.steps = pc.sum(runs.column("steps")).as_py() or 0
    campaign.visits.update({rule: steps for rule, (steps, _) in coverage_of(runs).items()})
    for verdict, number in _counts(runs, "verdict").items():
        if verdict in {each.value for each in CaseVerdict}:
            campaign.verdicts[CaseVerdict(verdict)] = number
    campaign.causes = found.failures.causes
    campaign.blamed.update({each.rule: each.runs for each in found.failures.passing})
    campaign.blamed.update({cause.rule: cause.cases for cause in campaign.causes})
    deviating = runs.filter(pc.equal(runs.column("verdict"), CaseVerdict.DEVIATES.value))
    cases = _counts(deviating, "rule")
    campaign.seen = {d.rule: DeviationSeen(d, cases.get(d.rule, 0)) for d in found.deviations}
    groups = unanswered(runs)
    campaign.failures = [_failure(group) for group in groups[:_MOST_FAILURES_TOLD]]
    campaign.verdict, campaign.why = conclusion(campaign)
    if campaign.verdict is Verdict.SUBJECT_FAILED:
        campaign.why = _why(groups, runs.num_rows)
    if found.failures.passing and campaign.verdict is not Verdict.NOT_CONFORMANT:
        first = found.failures.passing[0]
        campaign.verdict = Verdict.NONDETERMINISTIC
        campaign.why = (
            f"{counted(first.runs, 'run')} broke {first.rule} ({first.kind}), the first of them "
            f"with seed {first.seeds[0]}, and passed when the same was asked again"
        )
    return campaign


def _counts(runs: pa.Table, column: str) -> dict[str, int]:
    return {
        each["values"]: each["counts"] for each in pc.value_counts(runs.column(column)).to_pylist()
    }


def _failure(group: Unanswered) -> SubjectFailure:
    where = f"in {counted(group.runs, 'run')}, the first of them with seed {group.seed}"
    return SubjectFailure(
        FailureKind(group.kind),
        f"{where}: {group.seen}",
        asked=group.expected.removeprefix("an answer to "),
    )


def _why(groups: Sequence[Unanswered], runs: int) -> str:
    numbers: dict[str, int] = {}
    for group in groups:
        numbers[group.verdict] = numbers.get(group.verdict, 0) + group.runs
    words = ", ".join(f"{number} {verdict}" for verdict, number in sorted(numbers.items()))
    return f"of {counted(runs, 'run')} {words}"
