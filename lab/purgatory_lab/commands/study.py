"""``purgatory study``: the designs on a virtual clock, counted; results, plots, the docs page."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markdown import Markdown

from purgatory_conformance.describing.words import counted
from purgatory_conformance.problems import EXIT_INTERRUPTED, EXIT_USAGE, Problem
from purgatory_lab.studies.catalogue import STUDIES, Study
from purgatory_lab.studies.engines import run_locally, run_on_spark
from purgatory_lab.studies.page import LEAST_REQUESTS, PAGE, answer_of, publish
from purgatory_lab.studies.plots import draw_plots
from purgatory_lab.studies.reading import Rows
from purgatory_lab.studies.results import ResultsFolder
from purgatory_lab.studies.tables import schema
from purgatory_spark.engine.session import spark_session
from purgatory_traces.commands.check import foreseen
from purgatory_traces.engines.choice import Engine, choose_for_runs, tell

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OUT = Path("purgatory-work") / "studies"
"""The folder of the results unless ``--out`` names another."""


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
    help="Processes of this machine, or Spark; auto takes Spark where it is told where that is.",
)
@click.option("--master", default="", help="Where Spark runs; all processors of this machine.")
@click.option("--remote", default="", help="Address of a Spark Connect server, sc://host:port.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes of the local engine.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=OUT,
    show_default=True,
    help="The folder of the results.",
)
@click.option("--plots", is_flag=True, help="Draw the plots too, as SVG.")
def run_studies(
    names: tuple[str, ...],
    requests: int | None,
    seed: int | None,
    engine: str,
    master: str,
    remote: str,
    workers: int,
    out: Path,
    plots: bool,
) -> None:
    """Run the studies NAMES, or all of them with the name `all`.

    A setting that has a result in the folder is not run again.
    """
    chosen = [
        replace(each, settings=tuple(one.scaled(requests, seed) for one in each.settings))
        for each in _studies(names)
    ]
    choice = choose_for_runs(engine, master or remote)
    tell(choice)
    with foreseen("the study"), _can_go_on(out):
        schema()
        results = ResultsFolder(out)
        with ExitStack() as stack:
            spark = None
            missing = any(results.missing(each.settings) for each in chosen)
            if missing and choice.engine is Engine.SPARK:
                spark = stack.enter_context(spark_session(master=master, remote=remote))
            for each in chosen:
                _run(each, results, spark, workers)
        if plots:
            for each in chosen:
                for file in draw_plots(each.name, Rows(results.read_study(each.name)), out):
                    click.echo(str(file))


@study.command("docs")
@click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder of results; what was published before is used when absent.",
)
@click.argument("docs", type=click.Path(path_type=Path, exists=True, file_okay=False))
def write_docs(results: Path | None, docs: Path) -> None:
    """Write summaries, plots and figures of all studies into DOCS, a checkout's docs folder."""
    if not (docs / PAGE).is_file():
        raise Problem(
            f"{docs} has no {PAGE}: DOCS is the docs folder of a checkout of this project",
            EXIT_USAGE,
        )
    with foreseen("the study"):
        for path in publish(docs, results):
            click.echo(str(path))


def _run(each: Study, results: ResultsFolder, spark: "SparkSession | None", workers: int) -> None:
    """Run the settings of a study that have no result yet, and keep each as it comes."""
    missing = results.missing(each.settings)
    click.echo(f"{each.name}: {len(missing)} of {len(each.settings)} settings to run")
    if spark is None:
        rows = run_locally(missing, min(workers, len(missing) or 1))
    else:
        rows = run_on_spark(missing, spark)
    with closing(rows):
        for number, (setting, row) in enumerate(rows, start=1):
            results.write(setting, row)
            if sys.stderr.isatty():
                click.echo(f"\r{number} of {len(missing)}\r", nl=False, err=True)
    click.echo(f"{each.name}: {results.write_study(each)}")
    _tell(each, Rows(results.read_study(each.name)))


def _tell(each: Study, rows: Rows) -> None:
    """Print the question, and the answer with its numbers."""
    console = Console()
    console.print(Markdown(f"\n**{each.question}**\n\n{answer_of(each.name, rows)}"))
    fewest = min(setting.requests for setting in each.settings)
    if fewest < LEAST_REQUESTS:
        console.print(
            f"{counted(fewest, 'request')} of each setting are few: what is published has "
            f"{LEAST_REQUESTS:,}",
            style="dim",
        )


@contextmanager
def _can_go_on(out: Path) -> Iterator[None]:
    """Tell at Ctrl-C that only the settings under way are lost."""
    try:
        yield
    except KeyboardInterrupt:
        raise Problem(
            f"interrupted; the results so far are kept in {out}, and the same command goes on "
            "from there",
            EXIT_INTERRUPTED,
        ) from None


def _studies(names: Sequence[str]) -> list[Study]:
    if "all" in names:
        return list(STUDIES.values())
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise Problem(
            f"there is no study {unknown[0]!r}; there are {', '.join(STUDIES)}", EXIT_USAGE
        )
    return [STUDIES[name] for name in dict.fromkeys(names)]
