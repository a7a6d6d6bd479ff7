"""The command ``purgatory tla vectors``: the vectors that are TLC's, made again."""

from pathlib import Path

import click

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_MISSING_TOOL, Problem
from purgatory_spec.cases import encode_case
from purgatory_tla.cases.stored import all_made_again
from purgatory_tla.errors import CheckerError, MissingTool
from purgatory_tla.manifest.manifest import read_manifest
from purgatory_tla.manifest.models import Settings
from purgatory_tla.resources import modules_folder


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--jar", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLC's jar."
)
def vectors(folder: Path, jar: Path | None) -> None:
    """Make the vectors that are TLC's again, in FOLDER: to be compared with those that are stored.

    They lie in a folder for each component, and replay files in one of their own.
    """
    models = {model.name: model for model in read_manifest().models}
    try:
        for stored, case in all_made_again(models, Settings(modules_folder(), jar=jar)):
            path = folder / stored.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(encode_case(case), encoding="utf-8", newline="\n")
            click.echo(f"{path}  {case.header.origin}")
    except MissingTool as error:
        raise Problem(str(error), EXIT_MISSING_TOOL) from error
    except CheckerError as error:
        raise Problem(str(error), EXIT_INCONCLUSIVE) from error
