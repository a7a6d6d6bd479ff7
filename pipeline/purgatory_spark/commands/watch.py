"""``purgatory trace watch``: judge runs while they are being recorded."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from purgatory_conformance.problems import EXIT_INTERRUPTED, EXIT_USAGE, Problem
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.resources import WORK_FOLDER
from purgatory_spark.engine.errors import job_failure
from purgatory_spark.streaming.own_folder import own_folder
from purgatory_traces.commands.check import foreseen
from purgatory_traces.engines.interrupts import remembered_interrupt
from purgatory_traces.replay.reordered_run import MOST_HELD
from purgatory_traces.results.rows import RunVerdict
from purgatory_traces.summary.summary import Summary
from purgatory_traces.summary.terminal import print_summary
from purgatory_traces.summary.words import grouped, lines_of, runs_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from purgatory_spark.streaming.arrivals import Arrivals

_SECONDS_BETWEEN_LOOKS = 1
_WITHOUT_JAVA = "`purgatory trace check` needs no Java"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=WORK_FOLDER / "trace-watch",
    show_default=True,
    help="The folder of the results and of what a later start goes on from; a local disk.",
)
@click.option("--once", is_flag=True, help="Stop when all files that are there have been read.")
@click.option(
    "--every",
    type=click.FloatRange(0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often new files are looked for.",
)
@click.option(
    "--files-per-batch",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="How many files are read in one batch, at the most.",
)
@click.option(
    "--most-held",
    type=click.IntRange(1),
    default=MOST_HELD,
    show_default=True,
    help="How many lines of a run are held at the most for others that have not come.",
)
@click.option("--master", default="", metavar="MASTER", help="Where Spark runs, if not here.")
@click.pass_context
def watch(
    context: click.Context,
    folder: Path,
    out: Path,
    once: bool,
    every: float,
    files_per_batch: int,
    most_held: int,
    master: str,
) -> None:
    """Judge the files that appear and grow in FOLDER, batch by batch, until Ctrl-C.

    *.jsonl files may grow, and may be renamed; move compressed files and Parquet into FOLDER when
    they are complete. After each batch the tables say of every run what `purgatory trace check`
    would say of the lines so far. Started again with the same --out the watch goes on from its last
    batch, also after a kill; each --out serves one FOLDER and lies outside of it.

    Ends like `purgatory trace check`; after Ctrl-C with 130.
    """
    if not folder.is_dir():
        raise Problem(f"there is no folder {folder}: make it, then start again", EXIT_USAGE)
    with foreseen("the watch"), own_folder(out, folder) as set_aside:
        if set_aside:
            click.echo(set_aside, err=True)
        from purgatory_spark.engine.session import spark_session
        from purgatory_spark.streaming.arrivals import Arrivals
        from purgatory_spark.streaming.tables import Tables
        from purgatory_spark.streaming.watching import SETTINGS, Watch, start

        tables = Tables(out / "tables")
        how = Watch(
            checkpoint=(out / "checkpoint").absolute(),
            most_held=most_held,
            once=once,
            every_seconds=every,
        )
        with closing(
            Arrivals(folder.absolute(), out.absolute(), files_per_order=files_per_batch)
        ) as arrivals:
            for _ in range(2 if once else 1):  # the second is sure of what differs at the first
                arrivals.look()
            with spark_session(
                master=master, settings=SETTINGS, without_java=_WITHOUT_JAVA
            ) as spark:
                query = start(spark, how, arrivals, tables, _tell)
                interrupted = _wait_for(query, None if once else arrivals, every)
            told = arrivals.told()
    if interrupted:
        click.echo("stopped; the same command goes on from here", err=True)
        context.exit(EXIT_INTERRUPTED)
    tables.publish(told)
    summary = tables.summary()
    head = f"{runs_of(summary.runs)}, {lines_of(summary.events)}; engine spark stream"
    print_summary(standard_output(), summary, head=head, results=str(tables.results))
    context.exit(summary.exit_code)


def _wait_for(query: "StreamingQuery", arrivals: "Arrivals | None", every: float) -> bool:
    """Wait for the stream to end; whether Ctrl-C has ended it.

    Args:
        query: The stream.
        arrivals: What is to be looked for meanwhile.
        every: How often that is, in seconds.

    Raises:
        PipelineError: it has failed.
    """
    due = time.monotonic() + every
    with remembered_interrupt() as interrupted:
        try:
            while not interrupted.wait(min(every, _SECONDS_BETWEEN_LOOKS)):
                if not query.isActive:
                    query.awaitTermination()
                    return False
                if arrivals is not None and time.monotonic() >= due:
                    arrivals.look()
                    due = time.monotonic() + every
        except Exception as error:
            raise job_failure(error) from error
        query.stop()
    return True


def _tell(number: int, counted: Summary) -> None:
    """Say in a line what stands after a batch; called by Spark."""
    counts = ", ".join(
        f"{grouped(counted.verdicts[each.value])} {each.value}" for each in RunVerdict
    )
    of_lines = lines_of(counted.events)
    click.echo(f"batch {number}: {runs_of(counted.runs)}, {of_lines}: {counts}")
