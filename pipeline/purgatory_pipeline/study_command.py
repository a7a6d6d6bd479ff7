"""``purgatory study``: the designs on a virtual clock, counted; results, plots, the docs page."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from purgatory_conformance.command_line import EXIT_MISSING_TOOL, EXIT_USAGE, Problem
from purgatory_pipeline.errors import MissingExtra
from purgatory_pipeline.studies.catalogue import STUDIES, Study
from purgatory_pipeline.studies.engines import run_locally, run_on_spark
from purgatory_pipeline.studies.results import Results
from purgatory_pipeline.studies.setting import Setting
from purgatory_pipeline.studies.tables import Row, schema

Engine = Literal["local", "spark", "auto"]

OUT = Path("purgatory-work") / "studies"
"""Where results go unless told otherwise."""


@click.group()
def study() -> None:
    """Count what designs of the purgatory do, on a virtual clock."""


@study.command("list")
def list_studies() -> None:
    """Say which studies there are, and how many settings each has."""
    for each in STUDIES.values():
        click.echo(f"{each.name:<10} {len(each.settings):>3} settings  {each.question}")


@study.command("run")
@click.argument("names", nargs=-1, required=True)
@click.option("--requests", type=click.IntRange(1), help="Requests of each setting.")
@click.option("--seed", type=int, help="Of all that is drawn.")
@click.option(
    "--engine",
    type=click.Choice(["local", "spark", "auto"]),
    default="auto",
    show_default=True,
    help="Processes of this machine, or Spark; auto is local.",
)
@click.option("--master", default="", help="Where Spark runs; all processors of this machine.")
@click.option("--remote", default="", help="Address of a Spark Connect server, sc://host:port.")
@click.option("--workers", type=click.IntRange(1), default=1, help="Processes of the local engine.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=OUT, help="The folder."
)
@click.option("--plots", is_flag=True, help="Draw the plots too, as SVG.")
def run_studies(
    names: tuple[str, ...],
    requests: int | None,
    seed: int | None,
    engine: Engine,
    master: str,
    remote: str,
    workers: int,
    out: Path,
    plots: bool,
) -> None:
    """Run the studies NAMES, or all of them with the name `all`.

    A setting that has a result in the folder is not run again.
    """
    chosen = _studies(names)
    try:
        schema()
        results = Results(out)
        with ExitStack() as stack:
            taken = _engine(engine, master, remote)
            for each in chosen:
                settings = [setting.scaled(requests, seed) for setting in each.settings]
                missing = results.missing(settings)
                click.echo(
                    f"{each.name}: {len(missing)} of {len(settings)} settings to run, "
                    f"engine {taken}"
                )
                rows = _rows(missing, taken, workers, (master, remote), stack)
                for setting, row in rows:
                    results.write(setting, row)
                path = results.write_study(each, settings)
                click.echo(f"{each.name}: {path}")
                if plots:
                    _draw(each, path, out)
    except MissingExtra as problem:
        raise Problem(str(problem), EXIT_MISSING_TOOL) from problem


def _studies(names: Sequence[str]) -> list[Study]:
    if "all" in names:
        return list(STUDIES.values())
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise Problem(
            f"there is no study {unknown[0]!r}; there are {', '.join(STUDIES)}", EXIT_USAGE
        )
    return [STUDIES[name] for name in names]
