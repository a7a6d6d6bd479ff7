"""The command that writes an adapter project to begin with."""

import re
from pathlib import Path

import click

from purgatory_conformance.commands.options import ComponentName
from purgatory_conformance.kits import COMPONENTS, Clock, Language, NoSuchKit, project, write
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.registered import REGISTERED
from purgatory_spec.profiles import Component


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option(
    "--lang",
    "language",
    type=click.Choice([each.value for each in Language]),
    required=True,
    help="The language of your implementation; in any other, answer what spec/protocol.md asks.",
)
@click.option(
    "--component",
    "components",
    type=ComponentName(COMPONENTS),
    multiple=True,
    default=[Component.TIMER.value],
    show_default=True,
    help="What you have; may be given several times.",
)
@click.option(
    "--clock",
    type=click.Choice([each.value for each in Clock]),
    default=Clock.VIRTUAL.value,
    show_default=True,
    help="Your timer takes a clock (virtual), or reads the real one (wall).",
)
def init(directory: Path, language: str, components: tuple[str, ...], clock: str) -> None:
    """Write a working adapter project into DIRECTORY, or into the present folder.

    The project has a naive implementation in it that is conformant; put yours in its place. No
    file is overwritten. What is written is CC0-1.0.
    """
    name = re.sub(r"[^\w.-]+", "-", directory.resolve().name) or "adapter"
    chosen = [Component(each) for each in components]
    try:
        files = project(Language(language), chosen, Clock(clock), name)
    except NoSuchKit as error:
        raise click.UsageError(str(error)) from None
    there = sorted(str(directory / path) for path in files if (directory / path).exists())
    if there:
        raise Problem(
            f"{', '.join(there)}: already there, and nothing was written; name another directory",
            EXIT_USAGE,
        )
    try:
        write(files, directory)
    except OSError as error:
        place = error.filename or directory
        raise Problem(f"{place}: cannot be written: {error.strerror}", EXIT_USAGE) from error
    is_known = str(directory) in {each.name for each in REGISTERED}
    where = "" if directory == Path() else f" {'./' if is_known else ''}{directory}"
    click.echo(f"written: {len(files)} files in {directory}; README.md says which to change\n")
    click.echo(f"  purgatory doctor{where}\n  purgatory check{where} --suite quick")
