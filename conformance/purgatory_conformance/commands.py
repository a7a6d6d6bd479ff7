"""The commands that judge a subject, and those that look closely at one case or one adapter."""

import random
import shlex
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import EXIT_SUBJECT_FAILED
from purgatory_conformance.doctor import examine
from purgatory_conformance.doctor import explain as explain_finding
from purgatory_conformance.judging.case_judge import Deviation, judge_for
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.machine import render_badge, render_junit, render_markdown
from purgatory_conformance.reporting.results import (
    Results,
    read_results,
    results_of,
    write_results,
)
from purgatory_conformance.reporting.states import describe_state
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.reporting.words import describe_operation, describe_outcome, printable
from purgatory_conformance.running.campaign import SUITES, Campaign, run_campaign
from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.registry import OpenSubject, adapter_command, open_subject
from purgatory_conformance.subjects.subject import SubjectFailure
from purgatory_conformance.version import SUITE_VERSION
from purgatory_spec.cases import Case, CaseHeader, Step, encode_case, read_case
from purgatory_spec.messages import Implementation, schema_digest
from purgatory_spec.profiles import TimerProfile
from purgatory_spec.requirements import requirement

WORK_FOLDER = Path("purgatory-work")
"""The one folder that everything is written to."""

_WORK = click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=WORK_FOLDER,
    show_default=True,
    help="The folder that everything is written to.",
)
_RELEASE = click.option(
    "--release", default="", metavar="VERSION", help="The release of Apache Kafka, e.g. 4.0.0."
)
_COMMAND = click.option(
    "--command", default="", metavar="WORDS", help="Start this adapter; quote the whole command."
)


def register(group: click.Group) -> None:
    """Add the commands of this module to the root."""
    for command in (check, replay, doctor, report):
        group.add_command(command)


@click.command()
@click.argument("subject", default="")
@click.option("--component", type=click.Choice(["timer"]), default="timer", show_default=True)
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Judge coverage of these alone.")
@click.option("--suite", type=click.Choice(list(SUITES)), default="standard", show_default=True)
@click.option("--seed", type=int, default=None, help="Equal seeds give equal cases.")
@click.option("--seconds", type=float, default=None, help="Time for generated cases.")
@_COMMAND
@_RELEASE
@_WORK
@click.pass_context
def check(
    context: click.Context,
    subject: str,
    component: str,
    rules: tuple[str, ...],
    suite: str,
    seed: int | None,
    seconds: float | None,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Judge SUBJECT: is it conformant?

    SUBJECT is a registered name (see: purgatory list subjects), a folder with a purgatory.toml, or
    module:factory. Without it: the purgatory.toml of this folder, or else the bundled timer.
    """
    for rule in rules:
        known_rule(rule)
    budget = SUITES[suite]
    if seconds is not None:
        budget = replace(budget, seconds=seconds)
    seed = random.randrange(2**31) if seed is None else seed
    opened = _open(subject, command, work, release)
    console = Console()
    folder = work / _plain(opened.name)
    try:
        with CampaignProgress(console, opened.name, budget) as progress:
            campaign = run_campaign(
                opened.subject,
                seed=seed,
                budget=budget,
                vectors=vectors(component),
                deviations=opened.deviations,
                replays=opened.replays,
                only_rules=frozenset(rules),
                progress=progress.update,
            )
        results = _write_down(campaign, opened, suite, folder)
    finally:
        opened.subject.close()
    page = folder / "report.html"
    page.write_text(render_html(results), encoding="utf-8")
    print_results(
        console, results, results_path=str(folder / "results.jsonl"), report_path=str(page)
    )
    context.exit(results.footer.exit_code)


def known_rule(identifier: str) -> None:
    """Reject the id of a rule that is nowhere stated, as a usage error."""
    try:
        requirement(identifier)
    except KeyError:
        raise click.UsageError(
            f"there is no rule {identifier}; see: purgatory list rules"
        ) from None


def _open(subject: str, command: str, work: Path, release: str) -> OpenSubject:
    if not command:
        return open_subject(subject, work_folder=work, release=release)
    if subject:
        raise click.UsageError("give either a SUBJECT or --command, not both")
    words = shlex.split(command)
    return OpenSubject("adapter", ChildProcessSubject(words, name="adapter"), reopen=command)


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name)


def _write_down(campaign: Campaign, opened: OpenSubject, suite: str, folder: Path) -> Results:
    """Write the replay files and the results."""
    try:
        implementation, profile = opened.subject.implementation, opened.subject.profile
    except SubjectFailure:
        implementation, profile = Implementation(name=opened.name), TimerProfile()
    replays = {
        index: str(_write_replay(folder / "replays", cause.shrunk, cause.rule, opened, profile))
        for index, cause in enumerate(campaign.causes)
    }
    results = results_of(
        campaign,
        subject=opened.name,
        implementation=implementation,
        profile=profile,
        suite=suite,
        suite_version=SUITE_VERSION,
        schema=schema_digest(),
        replays=replays,
    )
    write_results(results, folder / "results.jsonl")
    return results


def _write_replay(
    folder: Path, run: CaseRun, rule: str, opened: OpenSubject, profile: TimerProfile
) -> Path:
    kind = run.divergence.kind if run.divergence else ""
    name = _plain(f"{rule}-{kind}")
    header = CaseHeader(
        case=name,
        title=f"{opened.name} breaks {rule}",
        configuration=run.configuration,
        profile=profile,
        rules=(rule,),
        subject=opened.reopen or opened.name,
        breaks=rule,
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text(encode_case(Case(header, tuple(run.steps))), encoding="utf-8")
    return path


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--subject", default="", help="Ask this subject instead of the one in the file.")
@click.option("--recorded", is_flag=True, help="Ask nobody: judge the outcomes in the file.")
@_COMMAND
@_RELEASE
@_WORK
@click.pass_context
def replay(
    context: click.Context,
    file: Path,
    subject: str,
    recorded: bool,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Run the case in FILE once more, step by step, and judge every step."""
    case = read_case(file)
    console = Console(highlight=False)
    if recorded:
        steps = list(case.steps)
        profile = case.header.profile
        if any(step.outcome is None for step in steps):
            raise click.UsageError(f"{file} has steps without a recorded outcome")
    else:
        wanted = subject or ("" if command else case.header.subject)
        opened = _open(wanted, command, work, release)
        try:
            run = run_case(
                opened.subject, case.header.case, case.header.configuration, case.operations
            )
            steps, profile = run.steps, opened.subject.profile
        finally:
            opened.subject.close()
        if run.failure is not None:
            console.print(f"{run.failure}", markup=False)
            context.exit(EXIT_SUBJECT_FAILED)
    console.print(printable(f"{case.header.case}: {case.header.title}"), markup=False)
    console.print(f"{case.header.configuration}", markup=False)
    context.exit(0 if _print_steps(console, case, steps, profile) else 1)


def _print_steps(console: Console, case: Case, steps: list[Step], profile: TimerProfile) -> bool:
    """Print and judge steps until one diverges; whether all were right."""
    deviations: tuple[Deviation, ...] = ()
    judge = judge_for(case.header.configuration, profile, deviations)
    for number, step in enumerate(steps, start=1):
        assert step.outcome is not None
        words = f"{number:3}  {describe_operation(step.operation)}"
        console.print(f"{words}  ->  {describe_outcome(step.outcome)}", markup=False)
        divergence = judge.step(step.operation, step.outcome).divergence
        if divergence is not None:
            rule = requirement(divergence.rule)
            console.print(f"     diverges from {rule.id} ({rule.level.value}): {rule.title}")
            for label, text in (
                ("expected", divergence.expected),
                ("seen", divergence.seen),
                ("before", describe_state(divergence.before)),
                ("expected after", describe_state(divergence.after)),
            ):
                console.print(f"     {label}: {printable(text)}", markup=False)
            return False
        state = describe_state(judge.state)
        if state:
            console.print(f"     {printable(state)}", markup=False, style="dim")
    console.print(f"{len(steps)} steps, all as the rules say")
    return True


@click.command()
@click.argument("subject", default="")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Seconds.")
@_COMMAND
@_RELEASE
@_WORK
@click.pass_context
def doctor(
    context: click.Context, subject: str, time_limit: float, command: str, release: str, work: Path
) -> None:
    """Talk to an adapter line by line and say what is right and what to mend."""
    if command:
        words, folder = tuple(shlex.split(command)), None
    else:
        words, folder = adapter_command(subject, work_folder=work, release=release)
    worst = "ok"
    for finding in examine(words, working_folder=folder, time_limit_seconds=time_limit):
        click.echo(explain_finding(finding))
        if finding.verdict == "wrong":
            worst = "wrong"
    context.exit(EXIT_SUBJECT_FAILED if worst == "wrong" else 0)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("form", type=click.Choice(["html", "junit", "markdown", "badge"]))
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None)
def report(file: Path, form: str, output: Path | None) -> None:
    """Derive a report from the results FILE of a check."""
    results = read_results(file)
    renderers = {
        "html": render_html,
        "junit": render_junit,
        "markdown": render_markdown,
        "badge": render_badge,
    }
    text = renderers[form](results)
    if output is None:
        click.echo(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
