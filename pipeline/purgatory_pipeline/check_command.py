"""``purgatory trace check``: which runs conform, and where the others go wrong first."""

from pathlib import Path

import click

from purgatory_pipeline.local_engine import check_locally
from purgatory_pipeline.rows import VerdictRow


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(paths: tuple[Path, ...]) -> int:
    """Judge the runs in PATHS."""
    code = 0
    for row in check_locally(paths):
        click.echo(row)
        if isinstance(row, VerdictRow) and row.verdict != "conforms":
            code = 1
    return code
