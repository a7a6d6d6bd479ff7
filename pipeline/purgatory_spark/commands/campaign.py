"""``purgatory campaign``: many seeded runs, on one machine or many, that can be taken up."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK, ComponentName
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_spark.campaigns.isolation import SubjectChoice
from purgatory_spark.engine.session import spark_session
from purgatory_spec.profiles import Component
from purgatory_traces.commands.check import foreseen
from purgatory_traces.engines.choice import Engine as EngineName
from purgatory_traces.engines.choice import choose_for_runs, tell
from purgatory_traces.errors import require

if TYPE_CHECKING:
    from purgatory_spark.campaigns.engines import Engine

_STEPS = 50
_RUNS = 1000
_PATIENCE = 3


@click.command()
@click.argument("subject", default="")
@click.option(
    "--component",
    "components",
    type=ComponentName(),
    multiple=True,
    help="Judge this alone; otherwise every component that is offered.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=_RUNS,
    show_default=True,
    help="Runs that are drawn of each component; from 100 on up to three times as many where a "
    "rule was hardly put to the test.",
)
@click.option("--seed", type=int, default=None, help="Equal seeds draw equal runs.")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=_STEPS,
    show_default=True,
    help="About how many steps a run has at the most.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark", "auto"]),
    default="auto",
    show_default=True,
    help="Where it runs: in this process, on Spark, or chosen by what there is to do.",
)
@click.option("--master", default="", help="Spark's master; otherwise all processors here.")
@click.option("--remote", default="", help="The address of a Spark Connect server, sc://...")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="The campaign's folder; otherwise one in the --work folder, by the subject's name.",
)
@click.option(
    "--resume", is_flag=True, help="Take up the campaign in the folder: what is done is not redone."
)
@click.option(
    "--fresh", is_flag=True, help="Begin anew: what is on record in the folder is thrown away."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For each answer of a subject that is no adapter; adapters declare their own.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=16),
    default=1024,
    show_default=True,
    metavar="MIB",
    help="For a subject that is no adapter; on Linux.",
)
@click.option(
    "--wave",
    type=click.IntRange(min=1),
    default=None,
    help="Runs between two records; otherwise as many as take some seconds.",
)
@COMMAND
@RELEASE
@WORK
@click.pass_context
def campaign(
    context: click.Context,
    subject: str,
    components: tuple[str, ...],
    runs: int,
    seed: int | None,
    steps: int,
    engine: str,
    master: str,
    remote: str,
    out: Path | None,
    resume: bool,
    fresh: bool,
    time_limit: float,
    memory: int,
    wave: int | None,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Judge SUBJECT by many generated runs; a run that crashes or hangs never stops the others.

    SUBJECT is what ``purgatory check`` takes. Every run is a row of a Parquet table in the folder.
    Where runs are on record there, say --resume or --fresh.
    """
    if resume and fresh:
        raise click.UsageError("--resume keeps what is on record, --fresh throws it away")
    choice = SubjectChoice(
        subject, command, release, str(work), str(Path.cwd()), time_limit, memory
    )
    seed = random.randrange(2**31) if seed is None else seed
    with foreseen("the campaign"):
        require("pyarrow", "traces", "a table of runs")
    from purgatory_spark.campaigns.course import Course, run_course

    course = Course(
        choice=choice,
        components=tuple(Component(word) for word in components),
        seed=seed,
        runs=runs,
        steps=steps,
        wave=wave or 0,
        out=out,
        resume=resume,
        fresh=fresh,
        patience=_PATIENCE,
    )
    with foreseen("the campaign"), _engine(engine, master, remote) as chosen:
        code = run_course(course, chosen, standard_output())
    context.exit(code)


@contextmanager
def _engine(wanted: str, master: str, remote: str) -> "Iterator[Engine]":
    """Provide the engine, and tell on standard error which it is and why."""
    from purgatory_spark.campaigns.engines import LocalEngine, SparkEngine

    choice = choose_for_runs(wanted, master or remote)
    tell(choice)
    if choice.engine is EngineName.LOCAL:
        yield LocalEngine()
        return
    with spark_session(master=master, remote=remote) as spark:
        yield SparkEngine(spark)
