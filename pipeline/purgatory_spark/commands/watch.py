"""``purgatory trace watch``: judge runs while they are being recorded."""

import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from purgatory_conformance.problems import EXIT_INTERRUPTED, EXIT_USAGE, Problem
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.resources import WORK_FOLDER
from purgatory_spark.engine.errors import job_failure
from purgatory_traces.commands.check import foreseen
from purgatory_traces.engines.interrupts import remembered_interrupt
from purgatory_traces.replay.reordered_run import MOST_HELD
from purgatory_traces.results.rows import TOPICS, RunVerdict
from purgatory_traces.summary.summary import Summary
from purgatory_traces.summary.terminal import print_summary
from purgatory_traces.summary.words import grouped, lines_of, runs_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from purgatory_spark.streaming.arrivals import Arrivals

_SECONDS_BETWEEN_LOOKS = 1
_WITHOUT_JAVA = "`purgatory trace check` needs no Java"


@click.command()
@click.argument("source")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=WORK_FOLDER / "trace-watch",
    show_default=True,
    help="The folder of the results and of what a later start goes on from; a local disk.",
)
@click.option("--once", is_flag=True, help="Stop when all that is there has been read.")
@click.option(
    "--every",
    type=click.FloatRange(0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often new files or records are looked for.",
)
@click.option(
    "--files-per-batch",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="How many files are read in one batch, at the most.",
)
@click.option(
    "--lines-per-batch",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="How many records of a topic are read in one batch, at the most, about.",
)
@click.option(
    "--skip-lost",
    is_flag=True,
    help="Go on where a topic has lost records before they were read.",
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
    source: str,
    out: Path,
    once: bool,
    every: float,
    files_per_batch: int,
    lines_per_batch: int,
    skip_lost: bool,
    most_held: int,
    master: str,
) -> None:
    """Judge what appears and grows in SOURCE, batch by batch, until Ctrl-C.

    SOURCE is a folder of files, or a topic of Kafka, kafka://host:port/topic. *.jsonl files may
    grow, and may be renamed; move compressed files and Parquet into the folder when they are
    complete. After each batch the tables say of every run what `purgatory trace check`
    would say of the lines so far. Started again with the same --out the watch goes on from its last
    batch, also after a kill; each --out serves one SOURCE and lies outside of it.

    Ends like `purgatory trace check`; after Ctrl-C with 130.
    """
    folder = Path(source)
    if not source.startswith(TOPICS) and not folder.is_dir():
        raise Problem(f"there is no folder {folder}: make it, then start again", EXIT_USAGE)
    with foreseen("the watch"), ExitStack() as stack:
        from purgatory_spark.engine.session import spark_session
        from purgatory_spark.engine.topics import Topic, connector, topic_at
        from purgatory_spark.streaming.arrivals import Arrivals
        from purgatory_spark.streaming.own_folder import TABLES, own_folder
        from purgatory_spark.streaming.tables import Tables
        from purgatory_spark.streaming.watching import SETTINGS, Watch, start

        watched = topic_at(source) if source.startswith(TOPICS) else folder
        if set_aside := stack.enter_context(own_folder(out, watched)):
            click.echo(set_aside, err=True)
        tables = Tables(out / TABLES)
        how = Watch(
            checkpoint=(out / "checkpoint").absolute(),
            most_held=most_held,
            once=once,
            every_seconds=every,
            lines_per_batch=lines_per_batch,
            skips_lost=skip_lost,
        )
        arrivals = None
        if isinstance(watched, Path):
            arrivals = Arrivals(folder.absolute(), out.absolute(), files_per_order=files_per_batch)
            stack.enter_context(closing(arrivals))
            for _ in range(2 if once else 1):  # the second is sure of what differs at the first
                arrivals.look()
            given: Arrivals | Topic = arrivals
            settings = SETTINGS
        else:
            given, settings = watched, {**SETTINGS, **connector()}
        with spark_session(master=master, settings=settings, without_java=_WITHOUT_JAVA) as spark:
            query = start(spark, how, given, tables, _tell)
            interrupted = _wait_for(query, None if once else arrivals, every)
        told = () if arrivals is None else arrivals.told()
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
