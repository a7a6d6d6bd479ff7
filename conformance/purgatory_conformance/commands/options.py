"""Parameters of several commands: options, the id of a rule, a subject."""

import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from purgatory_conformance.opening import Tell, open_subject
from purgatory_conformance.resources import WORK_FOLDER
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_spec.nearest import did_you_mean
from purgatory_spec.profiles import Component, Profile
from purgatory_spec.requirements import Requirement, all_requirements, requirement


class ComponentName(click.Choice[str]):
    """The name of a component, also where it is written with a hyphen."""

    def __init__(self, offered: Iterable[Component] = Component) -> None:
        """Let any component be named, or any of those that are offered."""
        super().__init__([each.value for each in offered])

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the component's own name."""
        return super().convert(str(value).replace("-", "_"), param, ctx)


WORK = click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=WORK_FOLDER,
    show_default=True,
    help="The folder that everything is written to.",
)
RELEASE = click.option(
    "--release", default="", metavar="VERSION", help="The release of Apache Kafka, e.g. 4.0.0."
)
COMMAND = click.option(
    "--command", default="", metavar="WORDS", help="Start this adapter; quote the whole command."
)


def known_rule(identifier: str) -> Requirement:
    """Return the rule of an id, in capital letters or small ones.

    Raises:
        UsageError: no rule has this id.
    """
    try:
        return requirement(identifier.upper())
    except KeyError:
        known = (rule.id for rule in all_requirements())
        hint = did_you_mean(identifier, known, "see: purgatory list rules")
        raise click.UsageError(f"there is no rule {identifier}; {hint}") from None


def tell_on_standard_error(sentence: str) -> None:
    """Print which commands run, or which module is imported, where the output is for programs."""
    click.echo(sentence, err=True)


def opened(
    subject: str,
    command: str,
    work: Path,
    release: str,
    profile: Profile | None = None,
    tell: Tell = tell_on_standard_error,
) -> OpenSubject:
    """Open the subject of this word, or the adapter behind this command line.

    The profile is that of a class of instances, which has none of its own; ``tell`` takes what a
    declaration has run, before it runs.
    """
    if not command:
        return open_subject(subject, work_folder=work, release=release, profile=profile, tell=tell)
    if subject:
        raise click.UsageError("give either a SUBJECT or --command, not both")
    words = shlex.split(command)
    return OpenSubject(
        "adapter",
        ChildProcessSubject(words, name="adapter"),
        reopen=command,
        again=("--command", command),
        home=Path.cwd(),
    )
