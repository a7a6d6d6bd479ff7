"""The course of a campaign, from the beginning to the verdict."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from purgatory_conformance.commands.options import tell_on_standard_error
from purgatory_conformance.describing.words import counted
from purgatory_conformance.problems import EXIT_INTERRUPTED, EXIT_SUBJECT_FAILED, Problem
from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.results import Results, worst
from purgatory_conformance.reporting.results_file import write_results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.running.campaign import MINIMUM_VISITS
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject, SubjectFailure, profile_of
from purgatory_conformance.whole_files import write_whole
from purgatory_conformance.work_folder import own_folder
from purgatory_judge.registry import judged
from purgatory_spark.campaigns.drawing import Drawing
from purgatory_spark.campaigns.engines import Engine
from purgatory_spark.campaigns.finding import deviations_of, findings
from purgatory_spark.campaigns.folder import CampaignFolder, Identity
from purgatory_spark.campaigns.isolation import SubjectChoice, is_adapter
from purgatory_spark.campaigns.merging import coverage_of, runs_table
from purgatory_spark.campaigns.telling import results_about
from purgatory_spark.campaigns.waves import Progress, Request, run_waves
from purgatory_spark.campaigns.work import CarryOut
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Level
from purgatory_traces.errors import PipelineError, Refused
from purgatory_traces.version import MODEL_VERSION

_LEAST_RUNS = 100
"""The fewest runs of a campaign; fewer are a trial, from which no verdict is expected."""


@dataclass(frozen=True)
class Course:
    """The request of the command: subject, components, seed, sizes and folders.

    Attributes:
        choice: Whom to judge.
        components: The components to judge; empty for all that the subject offers.
        seed: The campaign's seed.
        runs: How many numbers are drawn for each component.
        steps: About how many steps a run has at the most.
        wave: How many numbers are drawn between two records; 0 lets the engine's speed say.
        out: The campaign's folder; None for the usual one.
        resume: Whether runs on record in the folder count.
        fresh: Whether the record is thrown away.
        patience: How many times as many runs may be drawn of a component whose rules were not all
            put to the test often enough by then; 1 for no more than asked for.
    """

    choice: SubjectChoice
    components: tuple[Component, ...]
    seed: int
    runs: int
    steps: int
    wave: int
    out: Path | None
    resume: bool
    fresh: bool = False
    patience: int = 1


def run_course(course: Course, engine: Engine, console: Console) -> int:
    """Carry out a campaign, write and print the findings; the exit code.

    Raises:
        Problem: the subject cannot be asked, the folder is another campaign's, the engine failed,
            or Ctrl-C.
        Refused: the folder holds what is no campaign's.
        UnknownSubject: nothing goes by the subject's word.
    """
    opened = course.choice.opened(tell_on_standard_error)
    served = not is_adapter(opened)
    subject = opened.subject
    if served:
        subject.close()
        subject = course.choice.isolated(served=True)
    folder = CampaignFolder(course.out or own_folder(Path(course.choice.work), opened) / "campaign")
    try:
        with folder.kept():
            return _run(course, opened, served, subject, folder, engine, console)
    except KeyboardInterrupt:
        raise Problem(_interrupted(folder), EXIT_INTERRUPTED) from None
    except Refused:
        raise  # the command says so, with an exit code of its own
    except (SubjectFailure, PipelineError) as error:
        raise Problem(str(error), EXIT_SUBJECT_FAILED) from error
    finally:
        subject.close()


def _run(
    course: Course,
    opened: OpenSubject,
    served: bool,
    subject: Subject,
    folder: CampaignFolder,
    engine: Engine,
    console: Console,
) -> int:
    drawings = _drawings(course, subject)
    identity = Identity(
        subject=opened.reopen or opened.name,
        implementation=subject.implementation,
        model_version=MODEL_VERSION,
        deviations=deviations_of(opened),
    )
    folder.begin(identity, resume=course.resume, fresh=course.fresh)
    lent = subject if engine.is_here else None
    work = CarryOut(course.choice, served, opened.deviations, lent)
    progress = run_waves(Request(drawings, course.runs, work, course.wave), engine, folder)
    for times in range(1, course.patience if course.runs >= _LEAST_RUNS else 1):
        runs = runs_table(folder.done(), progress.drawn, course.seed)
        lacking = _lacking(runs, drawings, {each.rule for each in opened.deviations})
        if not lacking:
            break
        first, end = course.runs * times, course.runs * (times + 1)
        progress.add(run_waves(Request(lacking, end, work, course.wave, first), engine, folder))
    done = folder.done()
    runs = runs_table(done, progress.drawn, course.seed)
    result, results = _concluded(runs, drawings, opened, subject, folder, progress.seconds)
    results_path, page = folder.path / "results.jsonl", folder.path / "report.html"
    write_results(results, results_path)
    write_whole(page, render_html(results).encode())
    print_results(console, results, results_path=str(results_path), report_path=str(page))
    console.print(f"tables  {result}", markup=False, highlight=False, soft_wrap=True)
    for line in _counts(runs, progress, done.num_rows - runs.num_rows):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return worst(results).footer.exit_code


def _lacking(
    runs: pa.Table, drawings: Mapping[str, Drawing], declared: Set[str]
) -> dict[str, Drawing]:
    """Return the components without a failure, with a MUST that was tested too seldom."""
    found = {}
    for name, drawing in drawings.items():
        mine = runs.filter(pc.equal(runs.column("component"), name))
        if CaseVerdict.FAIL.value in mine.column("verdict").to_pylist():
            continue
        coverage = coverage_of(mine)
        musts = [
            rule
            for rule in judged(drawing.component).judged_rules(drawing.profile)
            if rule.level is Level.MUST and rule.id not in declared
        ]
        if any(coverage.get(rule.id, (0, 0))[0] < MINIMUM_VISITS for rule in musts):
            found[name] = drawing
    return found


def _drawings(course: Course, subject: Subject) -> dict[str, Drawing]:
    """Return the drawing of each component's runs; asks the subject for its profiles."""
    wanted = course.components or tuple(each for each in Component if each in subject.profiles)
    return {
        component.value: Drawing(
            component, profile_of(subject, component), course.seed, course.steps
        )
        for component in wanted
    }


def _concluded(
    runs: pa.Table,
    drawings: dict[str, Drawing],
    opened: OpenSubject,
    subject: Subject,
    folder: CampaignFolder,
    seconds: float,
) -> tuple[Path, list[Results]]:
    """Look for causes, put the result in place; where it is, and what reports are made of."""
    staging = folder.staging()
    with Console(stderr=True).status("looking for causes") as status:
        found = findings(
            runs,
            drawings,
            opened,
            subject,
            staging / "replays",
            getting_on=status.update,
        )
    result = folder.finish(staging, found.tables)
    for each in found.found:
        each.seconds = seconds
    return result, [
        results_about(each, opened, subject.implementation, result / "replays")
        for each in found.found
    ]


def _counts(runs: pa.Table, progress: Progress, left_over_runs: int) -> Iterator[str]:
    """Yield the lines that ``purgatory check`` does not need."""
    drawn = pc.sum(runs.column("times")).as_py()
    now = progress.carried_out
    same = f", {drawn - runs.num_rows} drawn again" if drawn > runs.num_rows else ""
    speed = f" in {progress.seconds:.1f} s, {now / progress.seconds:.0f} a second" if now else ""
    yield (
        f"runs    {counted(runs.num_rows, 'run')}{same}; {now} carried out now{speed}, "
        f"{runs.num_rows - now} on record before"
    )
    if left_over_runs:
        yield (
            f"        {counted(left_over_runs, 'run')} on record that this seed and this number of "
            "runs do not draw; not counted"
        )


def _interrupted(folder: CampaignFolder) -> str:
    number = folder.done().num_rows if folder.parts.exists() else 0
    return f"interrupted; {counted(number, 'run')} on record in {folder.path}, go on with --resume"
