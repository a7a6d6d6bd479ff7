"""``purgatory trace check``: which runs conform, and where the others go wrong first."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import (
    EXIT_MISSING_TOOL,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_conformance.commands.options import WORK_FOLDER
from purgatory_conformance.describing.words import printable
from purgatory_pipeline.engines.choice import Choice, Engine, choose, estimated_lines, tell
from purgatory_pipeline.engines.local import check_locally
from purgatory_pipeline.engines.local_progress import CheckProgress
from purgatory_pipeline.engines.sinks import Conclusion, ResultWriter
from purgatory_pipeline.errors import MissingExtra, PipelineError, Refused
from purgatory_pipeline.results.manifest import input_file
from purgatory_pipeline.summary.html import PAGE, render_page
from purgatory_pipeline.summary.summary import Summary
from purgatory_pipeline.summary.terminal import print_summary
from purgatory_pipeline.summary.words import files_in, lines_of, runs_of
from purgatory_pipeline.traces.sources import NothingThere, Sources, sources_of

_MOST_NAMES = 5
_NUMBER = re.compile(r"\[errno \d+\] ", re.IGNORECASE)


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--engine",
    type=click.Choice([*(each.value for each in Engine), "auto"]),
    default="auto",
    show_default=True,
    help="Who does the work: this process, or Spark.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=WORK_FOLDER / "trace-check",
    show_default=True,
    help="The folder that the results are written to.",
)
@click.option("--html", is_flag=True, help="Write a page, too.")
@click.option(
    "--runs",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How many runs of each cause are shown.",
)
@click.option("--master", default="", metavar="MASTER", help="Where Spark runs, if not here.")
@click.option("--remote", default="", metavar="URL", help="A Spark Connect server, sc://host:port.")
@click.pass_context
def check(
    context: click.Context,
    paths: tuple[str, ...],
    engine: str,
    out: Path,
    html: bool,
    runs: int,
    master: str,
    remote: str,
) -> None:
    """Judge the runs in PATHS.

    PATHS are files, folders and patterns. Of a folder, *.jsonl, *.jsonl.gz and *.parquet are read.

    Ends with 1 if a run diverges; otherwise with 4 if a run is incomplete or inconclusive, a line
    could not be used, no rule of a component was put to the test, no run was long enough
    to show that an expiry is missing, or there is no run; otherwise
    with 0.
    """
    if engine == Engine.LOCAL.value and (master or remote):
        raise click.UsageError("--master and --remote are of Spark; --engine local has none")
    with foreseen():
        sources = sources_of(paths)
        choice = choose(engine, sources.files, elsewhere=master or remote)
        tell(choice)
        with ResultWriter(out) as writer:
            if choice.engine is Engine.SPARK:
                summary = _write_by_spark(writer, sources, runs, master, remote)
            else:
                summary = _write_locally(writer, sources, runs)
            head = _head(summary, sources, choice)
            page = [(PAGE, render_page(summary, head))] if html else []
            folder = writer.commit(_conclusion(summary, sources, choice), page)
    report = str(folder / PAGE) if html else ""
    console = Console()
    print_summary(console, summary, head=head, results=str(folder), report=report)
    _tell_ignored(sources)
    context.exit(summary.exit_code)


@contextmanager
def foreseen(what: str = "the check") -> Iterator[None]:
    """Turn what the pipeline foresees into a sentence and an exit code.

    Args:
        what: The part that has failed, in words.

    Raises:
        Problem: with 2 where a path is wrong, 3 where the pipeline failed, 5 where a library is
            missing.
    """
    try:
        yield
    except (NothingThere, Refused) as problem:
        raise Problem(str(problem), EXIT_USAGE) from None
    except PipelineError as problem:
        raise Problem(f"{what} failed: {problem}", EXIT_SUBJECT_FAILED) from problem
    except OSError as problem:
        raise Problem(f"{what} failed: {_in_words(problem)}", EXIT_SUBJECT_FAILED) from problem
    except MissingExtra as problem:
        raise Problem(str(problem), EXIT_MISSING_TOOL) from None


def _in_words(problem: OSError) -> str:
    """The operating system's reason for a refusal, without error numbers."""
    why = _NUMBER.sub("", problem.strerror or str(problem))
    return why if problem.filename is None else f"{problem.filename} cannot be used: {why}"


def _write_locally(writer: ResultWriter, sources: Sources, examples: int) -> Summary:
    summary = Summary(most_examples=examples)
    with CheckProgress(estimated_lines(sources.files)) as progress:
        writer.write(check_locally(sources.files, scratch=writer.scratch, progress=progress))
    writer.finish(summary.take)
    return summary


def _write_by_spark(
    writer: ResultWriter, sources: Sources, examples: int, master: str, remote: str
) -> Summary:
    from purgatory_pipeline.engines.spark.engine import check_on_spark
    from purgatory_pipeline.engines.spark.session import spark_session

    with spark_session(master=master, remote=remote) as spark:
        staging = writer.scratch / "spark"
        checked = check_on_spark(spark, sources.files, writer.whole, staging, examples)
    writer.adopt(checked.files)
    return checked.summary


def _conclusion(summary: Summary, sources: Sources, choice: Choice) -> Conclusion:
    return Conclusion(
        engine=choice.engine.value,
        exit_code=summary.exit_code,
        verdicts=summary.verdicts,
        inputs=tuple(input_file(name) for name in sources.files),
        ignored=sources.ignored,
    )


def _head(summary: Summary, sources: Sources, choice: Choice) -> str:
    subjects = sorted(printable(each) for each in summary.subjects if each)
    shown = ", ".join(subjects[:_MOST_NAMES]) + (", …" if len(subjects) > _MOST_NAMES else "")
    of_whom = f" of {shown}" if subjects else ""
    nameless = summary.subjects[""] if subjects else 0
    but = f" ({nameless:,} without a subject)" if nameless else ""
    return (
        f"{runs_of(summary.runs)}{of_whom}{but}, {lines_of(summary.events)} in "
        f"{files_in(len(sources.files))}; engine {choice.engine.value}: {choice.why}"
    )


def _tell_ignored(sources: Sources) -> None:
    if not sources.ignored:
        return
    names = ", ".join(printable(each) for each in sources.ignored[:_MOST_NAMES])
    more = ", …" if len(sources.ignored) > _MOST_NAMES else ""
    click.echo(f"ignored {files_in(len(sources.ignored))} in the folders: {names}{more}")
