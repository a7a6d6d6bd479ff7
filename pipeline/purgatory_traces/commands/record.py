"""``purgatory trace record``: a trace of the bundled implementation or of Kafka under load."""

import secrets
import time
from pathlib import Path

import click

from purgatory_conformance.commands.options import RELEASE, WORK, ComponentName
from purgatory_conformance.problems import (
    EXIT_INTERRUPTED,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_spec.profiles import Component
from purgatory_traces.recording.recorder import Rotation
from purgatory_traces.recording.recording_run import (
    Recorded,
    RecordingFailed,
    record_bundled,
    record_kafka,
)
from purgatory_traces.recording.trace_writer import TraceNotWritten
from purgatory_traces.recording.workload import Wish
from purgatory_traces.results.rows import TOPICS
from purgatory_traces.traces.lines import TRACED


@click.command()
@click.argument("subject", type=click.Choice(["bundled", "kafka"]))
@click.option("--component", type=ComponentName(TRACED), default="timer", show_default=True)
@click.option(
    "--out",
    required=True,
    help="The file, *.jsonl or *.jsonl.gz; any other name is a folder, made where it is missing. "
    "Of kafka also a topic, kafka://host:port/topic.",
)
@click.option("--threads", type=click.IntRange(1, 256), default=4, show_default=True)
@click.option(
    "--events",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="After how many lines the threads stop.",
)
@click.option("--keys", type=click.IntRange(1), default=16, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--rate",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Lines a second at most; 0 for as many as possible.",
)
@click.option(
    "--rotate",
    type=click.IntRange(1),
    metavar="LINES",
    help="Go on in a further file after so many lines; of the bundled implementation alone.",
)
@click.option(
    "--lateness",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    metavar="MS",
    help="How late an expiry may be seen.",
)
@RELEASE
@WORK
@click.pass_context
def record(
    context: click.Context,
    subject: str,
    component: str,
    out: str,
    threads: int,
    events: int,
    keys: int,
    seed: int,
    rate: int,
    rotate: int | None,
    lateness: int,
    release: str,
    work: Path,
) -> None:
    """Record a trace of SUBJECT, bundled or kafka, used by several threads on the real clock.

    The threads use one instance at random until enough lines are written; Ctrl-C ends the run
    early, and the trace is whole all the same. Which calls overlap is different each time.
    """
    wish = Wish(threads, events, keys, seed, rate)
    of = Component(component)
    run = name_of_run(subject, component)
    is_topic = out.startswith(TOPICS)
    folder = Path(out)
    path = folder if _is_file(folder) else folder / f"{run}.jsonl.gz"
    if subject == "bundled" and release:
        raise click.UsageError("--release is of kafka alone")
    if subject == "kafka" and rotate is not None:
        raise click.UsageError("--rotate is of the bundled implementation alone")
    if subject == "bundled" and is_topic:
        raise click.UsageError("a topic is written by kafka alone")
    try:
        if path != folder and not is_topic:
            folder.mkdir(parents=True, exist_ok=True)
        if subject == "bundled":
            rotation = None if rotate is None else Rotation(lines=rotate)
            recorded = record_bundled(
                of, wish, path, run=run, lateness_ms=lateness, rotation=rotation
            )
        else:
            recorded = record_kafka(
                of,
                wish,
                out if is_topic else path,
                run=run,
                lateness_ms=lateness,
                release=release,
                work_folder=work,
            )
    except FileExistsError as error:
        raise Problem(
            f"{error.filename} exists; choose another name for --out", EXIT_USAGE
        ) from error
    except OSError as error:
        raise Problem(f"{path} cannot be created: {error.strerror}", EXIT_USAGE) from error
    except (TraceNotWritten, RecordingFailed) as error:
        raise Problem(str(error), EXIT_SUBJECT_FAILED) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    _tell(run, recorded)
    context.exit(EXIT_INTERRUPTED if recorded.interrupted else 0)


def name_of_run(subject: str, component: str) -> str:
    """Return a name that no other run has, even if begun in the same second."""
    return f"{subject}-{component}-{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(4)}"


def _is_file(out: Path) -> bool:
    """Decide whether a file is meant and not a folder, by a name that a check finds."""
    return out.name.endswith((".jsonl", ".jsonl.gz")) and not out.is_dir()


def _tell(run: str, recorded: Recorded) -> None:
    """Print the lines and files written, and the command that checks them."""
    seconds = recorded.elapsed_ns / 1e9
    files = "1 file" if len(recorded.files) == 1 else f"{len(recorded.files)} files"
    files = "a topic" if isinstance(recorded.files[0], str) else files
    if recorded.interrupted:
        click.echo("interrupted; the trace ends here, and is whole")
    click.echo(
        f"run {run}: {recorded.lines:,} lines in {files}, {seconds:.1f} s, "
        f"{recorded.lines / seconds:,.0f} lines/s"
    )
    click.echo(f"to check it: purgatory trace check {' '.join(map(str, recorded.files))}")
