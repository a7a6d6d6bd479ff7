"""After the waves: the tables, the causes and their replay files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from purgatory_conformance.describing.words import noun
from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.running.replay_file import write_replay
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.work_folder import plain
from purgatory_judge.registry import judged
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.first_failures import SEEDS_OF_A_GROUP, first_failures
from purgatory_spark.campaigns.merging import Unanswered, coverage_table, failing, unanswered
from purgatory_spark.campaigns.tables import CAUSES, table_of
from purgatory_spark.campaigns.telling import Found
from purgatory_spark.campaigns.work import declared_of
from purgatory_spec.cases import Case, Step, case_header, encode_case
from purgatory_spec.requirements import Requirement


@dataclass(frozen=True)
class Findings:
    """The result of a campaign: its findings and its tables.

    Attributes:
        found: The findings about each component.
        tables: The tables, by their names.
    """

    found: tuple[Found, ...]
    tables: Mapping[str, pa.Table]


def findings(
    runs: pa.Table,
    drawings: Mapping[str, Drawing],
    opened: OpenSubject,
    subject: Subject,
    staging: Path,
    *,
    getting_on: Callable[[str], None],
) -> Findings:
    """Return the tables, and the causes of what failed.

    Args:
        runs: The table ``runs``.
        drawings: How the runs of each component were drawn.
        opened: The subject with the declaration of its author.
        subject: The same in a process of its own.
        staging: Where replay files are written.
        getting_on: Called with a few words when something begins that takes a while.
    """
    staging.mkdir(parents=True, exist_ok=True)
    found = []
    for component, drawing in drawings.items():
        of_component = runs.filter(pc.equal(runs.column("component"), component))
        deviations = declared_of(opened.deviations, drawing.component)
        each = Found(drawing, of_component, deviations)
        words = f"shrinking, {noun(drawing.component)}"
        each.failures = first_failures(
            drawing,
            failing(of_component, SEEDS_OF_A_GROUP),
            subject,
            deviations,
            getting_on=lambda words=words: getting_on(words),  # type: ignore[misc]
        )
        for number, cause in enumerate(each.failures.causes):
            path = write_replay(staging, cause.shrunk, cause.rule, opened, drawing.profile)
            each.replays[number] = path.name
        for group in unanswered(of_component):
            _write_unanswered(staging, group, drawing, opened)
        found.append(each)
    tables = {
        "runs": runs,
        "coverage": coverage_table({each.drawing.component.value: _judged(each) for each in found}),
        "causes": table_of((row for each in found for row in _cause_rows(each)), CAUSES),
    }
    return Findings(tuple(found), tables)


def _judged(found: Found) -> tuple[pa.Table, tuple[Requirement, ...]]:
    return found.runs, judged(found.drawing.component).judged_rules(found.drawing.profile)


def _cause_rows(found: Found) -> list[tuple[object, ...]]:
    rows = []
    for number, cause in enumerate(found.failures.causes):
        row = _told(cause.shrunk, cause.cases, cause.source)
        rows.append((found.drawing.component.value, *row, found.replays[number]))
    return rows


def _told(run: CaseRun, cases: int, seed: str) -> tuple[object, ...]:
    divergence = run.divergence
    assert divergence is not None
    steps = len(run.steps)
    told = divergence.expected, divergence.seen
    return divergence.rule, divergence.kind, cases, seed, steps, *told


def _write_unanswered(
    folder: Path, group: Unanswered, drawing: Drawing, opened: OpenSubject
) -> Path:
    """Return the first run of a group without an answer, as it was drawn."""
    case = drawing.draw(int(group.seed.rpartition("-")[2]))
    name = plain(f"{drawing.component.value}-{group.verdict}-{group.kind}")
    header = case_header(
        name,
        case.configuration,
        drawing.profile,
        title=f"{opened.name} {group.kind}",
        subject=opened.reopen or opened.name,
    )
    path = folder / f"{name}.jsonl"
    steps = tuple(Step(operation) for operation in case.operations)
    path.write_text(encode_case(Case(header, steps)), encoding="utf-8")
    return path


def deviations_of(opened: OpenSubject) -> tuple[str, ...]:
    """Return the declared deviations as a campaign's identity names them."""
    return tuple(f"{each.rule} {each.variant}" for each in opened.deviations)
