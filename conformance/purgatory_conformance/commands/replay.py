"""The command that runs a stored case again."""

from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import EXIT_SUBJECT_FAILED
from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK, opened
from purgatory_conformance.describing.words import legend_of, noun, printable
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.subjects.subject import profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_spec.cases import Case, Step, read_case
from purgatory_spec.profiles import Profile
from purgatory_spec.requirements import requirement


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--subject", default="", help="Ask this subject instead of the one in the file.")
@click.option("--recorded", is_flag=True, help="Ask nobody: judge the outcomes in the file.")
@COMMAND
@RELEASE
@WORK
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
        asked = opened(wanted, command, work, release, case.header.profile).subject
        try:
            run = run_case(asked, case.header.case, case.header.configuration, case.operations)
            if run.failure is not None:
                console.print(f"{run.failure}", markup=False)
                context.exit(EXIT_SUBJECT_FAILED)
            steps, profile = run.steps, profile_of(asked, case.component)
        finally:
            asked.close()
    console.print(printable(f"{case.header.case}: {case.header.title}"), markup=False)
    made_with = support_of(case.component).describe_configuration(case.header.configuration)
    console.print(f"{noun(case.component)}: {made_with}", markup=False)
    context.exit(0 if _print_steps(console, case, steps, profile) else 1)


def _print_steps(console: Console, case: Case, steps: list[Step], profile: Profile) -> bool:
    """Print and judge steps until one diverges; whether all were right."""
    support = support_of(case.component)
    judge = support.judge(case.header.configuration, profile, ())
    shown: list[str] = []
    for number, step in enumerate(steps, start=1):
        assert step.outcome is not None
        asked = f"{number:3}  {support.describe_operation(step.operation)}"
        answered = support.describe_outcome(step.operation, step.outcome)
        console.print(f"{asked}  ->  {answered}", markup=False)
        divergence = judge.step(step.operation, step.outcome).divergence
        if divergence is not None:
            rule = requirement(divergence.rule)
            console.print(f"     diverges from {rule.id} ({rule.level.value}): {rule.title}")
            for label, text in (
                ("expected", divergence.expected),
                ("seen", divergence.seen),
                ("before", support.describe_state(divergence.before)),
                ("expected after", support.describe_state(divergence.after)),
            ):
                console.print(f"     {label}: {printable(text)}", markup=False)
                shown.append(text)
            _print_legend(console, shown)
            return False
        state = support.describe_state(judge.state)
        if state:
            console.print(f"     {printable(state)}", markup=False, style="dim")
            shown.append(state)
    _print_legend(console, shown)
    console.print(f"{len(steps)} steps, all as the rules say")
    return True


def _print_legend(console: Console, states: list[str]) -> None:
    legend = legend_of(*states)
    if legend:
        console.print(f"     {legend}", markup=False, style="dim")
