"""The command that examines an adapter."""

import shlex
from pathlib import Path

import click

from purgatory_conformance.command_line import AS_JSON, print_json
from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK, tell_on_standard_error
from purgatory_conformance.completion import complete_subject
from purgatory_conformance.doctor.examination import examine
from purgatory_conformance.doctor.finding import Severity, report
from purgatory_conformance.opening import adapter_command
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED


@click.command()
@click.argument("subject", default="", shell_complete=complete_subject)
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Seconds.")
@click.option("--all", "everything", is_flag=True, help="Each line, and what is declared.")
@AS_JSON
@COMMAND
@RELEASE
@WORK
@click.pass_context
def doctor(
    context: click.Context,
    subject: str,
    time_limit: float,
    everything: bool,
    as_json: bool,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Talk to an adapter line by line and say what to mend.

    As JSON: all findings in their order; the last one is the verdict.
    """
    if command:
        words, folder = tuple(shlex.split(command)), None
    else:
        tell = tell_on_standard_error if as_json else click.echo
        words, folder = adapter_command(subject, work_folder=work, release=release, tell=tell)
    findings = list(examine(words, working_folder=folder, time_limit_seconds=time_limit))
    if as_json:
        print_json(findings)
    else:
        click.echo(report(findings, everything=everything))
    context.exit(EXIT_SUBJECT_FAILED if findings[-1].verdict is Severity.WRONG else 0)
