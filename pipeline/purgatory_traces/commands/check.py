"""``purgatory trace check``: which runs conform, and where the others go wrong first."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, cast

import click
import msgspec

from purgatory_conformance.describing.words import printable
from purgatory_conformance.problems import (
    EXIT_MISSING_TOOL,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.resources import WORK_FOLDER
from purgatory_traces.commands.log_level import LOG_LEVEL
from purgatory_traces.engines.checking import Asked, Done, Files, committed, log_files
from purgatory_traces.engines.choice import (
    Choice,
    Engine,
    choose,
    choose_for_addresses,
    estimated_lines,
    of_spark,
    tell,
)
from purgatory_traces.engines.local import check_locally
from purgatory_traces.engines.progress_bar import progress_bar
from purgatory_traces.engines.sinks import ResultWriter
from purgatory_traces.errors import MissingExtra, PipelineError, Refused
from purgatory_traces.results.manifest import InputFile, encoded, input_file, read_manifest
from purgatory_traces.results.metrics import CheckMetrics
from purgatory_traces.summary.html import PAGE
from purgatory_traces.summary.summary import Summary, summary_as_json
from purgatory_traces.summary.terminal import print_summary
from purgatory_traces.summary.words import files_in
from purgatory_traces.traces.addresses import is_address
from purgatory_traces.traces.sources import NothingThere, sources_of

CheckBySpark: TypeAlias = Callable[[Asked, Choice, Files | None], Done | None]
"""Checks by Spark; the paths are addresses without files; None where nothing is new."""

_LOGGER = logging.getLogger(__name__)
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
    default=str(WORK_FOLDER / "trace-check"),
    show_default=True,
    help="The folder that the results are written to, or its address.",
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
@click.option(
    "--since",
    default="",
    metavar="FOLDER",
    help="Judge the runs alone that have lines in files which the check with these results has "
    "not read, or which have changed.",
)
@click.option(
    "--conf",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of Spark, for example spark.eventLog.enabled=true; may be given again.",
)
@click.option(
    "--format",
    "as_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the summary is printed.",
)
@click.option(
    "--metrics",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="A file for rows, bytes and seconds of each stage, in JSON.",
)
@LOG_LEVEL
@click.pass_context
def check(
    context: click.Context,
    paths: tuple[str, ...],
    engine: str,
    out: str,
    html: bool,
    runs: int,
    master: str,
    remote: str,
    since: str,
    settings: tuple[str, ...],
    as_format: str,
    metrics: Path | None,
) -> None:
    """Judge the runs in PATHS.

    PATHS are files, folders and patterns, or addresses of files and folders on one of Hadoop's file
    systems, for example s3a://bucket/traces, which Spark reads. Of a folder, *.jsonl, *.jsonl.gz
    and *.parquet are read. A topic of Kafka, kafka://host:port/topic, is read as far as it goes.

    Ends with 1 if a run diverges; otherwise with 4 if a run is incomplete or inconclusive, a line
    could not be used, no rule of a component was put to the test, no run was long enough
    to show that an expiry is missing, or there is no run; otherwise
    with 0.
    """
    if engine == Engine.LOCAL.value and (master or remote):
        raise click.UsageError("--master and --remote are of Spark; --engine local has none")
    asked = Asked(paths, out, runs, html, master, remote, since, _settings_in(settings))
    began = time.perf_counter()
    with foreseen():
        sources = None if asked.reads_addresses else _sources_on_paths(asked)
        if sources is None or is_address(out):
            choice = choose_for_addresses(engine, master or remote)
        else:
            choice = choose(engine, sources.new, elsewhere=master or remote)
        tell(choice)
        if sources is not None and since and not sources.new:
            done = None
        elif choice.engine is Engine.SPARK:
            check_by_spark = cast("CheckBySpark", of_spark("spark-check"))
            done = check_by_spark(asked, choice, sources)
        else:
            assert sources is not None
            done = _check_locally(asked, choice, sources)
        if done is None:
            click.echo(f"nothing is new since {since}")
            return
        seconds = time.perf_counter() - began
        if metrics is not None:
            _write_metrics(metrics, done, choice, seconds)
    _LOGGER.info("ends with exit code %d after %.1f s", done.summary.exit_code, seconds)
    report = f"{done.folder}/{PAGE}" if html else ""
    if as_format == "json":
        files = len(done.inputs)
        found = summary_as_json(
            done.summary, engine=choice.engine.value, files=files, results=done.folder
        )
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        print_summary(
            standard_output(), done.summary, head=done.head, results=done.folder, report=report
        )
        _tell_ignored(done.ignored)
    context.exit(done.summary.exit_code)


def _settings_in(settings: Sequence[str]) -> dict[str, str]:
    """Return the settings of Spark by their names.

    Raises:
        UsageError: one has no name or no value.
    """
    found = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not name.startswith("spark.") or not sign:
            raise click.UsageError(f"--conf {setting}: a setting of Spark is spark.NAME=VALUE")
        found[name] = value
    return found


def _write_metrics(target: Path, done: Done, choice: Choice, seconds: float) -> None:
    found = CheckMetrics(
        engine=choice.engine.value,
        lines=done.summary.events + done.summary.lines_aside,
        bytes=sum(each.bytes or 0 for each in done.inputs),
        seconds=seconds,
        stages=done.stages,
    )
    target.write_bytes(encoded(found))


def _sources_on_paths(asked: Asked) -> Files:
    sources = sources_of(asked.paths)
    inputs = tuple(map(input_file, sources.files))
    known: set[InputFile] = set()
    if asked.since:
        if is_address(asked.since):
            raise Refused(f"{asked.since} is an address: the traces are on paths, name a path")
        known.update(read_manifest(Path(asked.since)).inputs)
    new = tuple(each.file for each in inputs if each not in known)
    earlier = tuple(each.file for each in inputs if each in known)
    log_files(len(new), len(earlier), len(sources.ignored))
    return Files(new, earlier, inputs, sources.ignored)


def _check_locally(asked: Asked, choice: Choice, sources: Files) -> Done:
    summary = Summary(most_examples=asked.examples)
    with ResultWriter(Path(asked.out)) as writer:
        with progress_bar("lines") as progress:
            rows = check_locally(
                sources.new,
                scratch=writer.scratch,
                progress=progress,
                estimated=estimated_lines(sources.new),
                earlier=sources.earlier,
            )
            writer.write(rows)
        writer.finish(summary.take)
        return committed(writer, asked, choice, summary, sources.inputs, sources.ignored)


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
    """Return the operating system's reason for a refusal, without error numbers."""
    why = _NUMBER.sub("", problem.strerror or str(problem))
    return why if problem.filename is None else f"{problem.filename} cannot be used: {why}"


def _tell_ignored(ignored: Sequence[str]) -> None:
    if not ignored:
        return
    names = ", ".join(printable(each) for each in ignored[:_MOST_NAMES])
    more = ", …" if len(ignored) > _MOST_NAMES else ""
    click.echo(f"ignored {files_in(len(ignored))} in the folders: {names}{more}")
