"""The command that examines an adapter."""

import shlex
from pathlib import Path

import click

from purgatory_conformance.command_line import EXIT_SUBJECT_FAILED
from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK
from purgatory_conformance.doctor.examination import examine
from purgatory_conformance.doctor.finding import explain as explain_finding
from purgatory_conformance.opening import adapter_command


@click.command()
@click.argument("subject", default="")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Seconds.")
@COMMAND
@RELEASE
@WORK
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
