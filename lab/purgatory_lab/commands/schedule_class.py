"""The command that runs a user's own class under chosen interleavings."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.opening import open_subject
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, EXIT_USAGE, Problem
from purgatory_lab.commands.printed_run import counts_of, print_run, wide_console
from purgatory_lab.scheduling.errors import SchedulingError, Stalled
from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.schedule import as_text, from_text
from purgatory_lab.scheduling.strangers.programs import Shared
from purgatory_lab.scheduling.strangers.runs import Stranger
from purgatory_lab.scheduling.strangers.search import (
    Searched,
    programs_of,
    replayed,
    search_all,
)


@click.command("class")
@click.argument("subject")
@click.option(
    "--preemptions",
    type=click.IntRange(0, 9),
    default=2,
    show_default=True,
    help="The most that a schedule has.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0),
    default=20,
    show_default=True,
    help="Time for schedules with more than one preemption.",
)
@click.option("--program", default=None, metavar="NAME", help="Run this program alone.")
@click.option(
    "--schedule",
    "text",
    default=None,
    metavar="SCHEDULE",
    help="Run --program once, under this schedule, and show what each thread does.",
)
@WORK
@click.pass_context
def class_(
    context: click.Context,
    subject: str,
    preemptions: int,
    seconds: float,
    program: str | None,
    text: str | None,
    work: Path,
) -> None:
    """Run the timer, purgatory or memory pool of SUBJECT in several threads.

    SUBJECT is module:factory, or a folder whose purgatory.toml names one, as for purgatory check.
    The module is imported, and its locks, waits, sleeps and threads are scheduled. All schedules
    with one preemption are tried, then those with more as long as there is time.

    Exits with 0 where nothing is wrong, 1 where a schedule breaks a rule, which is shown, 2 where
    the class cannot be scheduled, 3 where a thread waits for something that is not scheduled.
    """
    if text is not None and program is None:
        raise click.UsageError("--schedule is a schedule of one program: name it by --program")
    console = wide_console()
    stranger = Stranger(subject, lambda: open_subject(subject, work_folder=work))
    with _scheduled(stranger):
        programs = programs_of(stranger, program)
        if text is not None:
            record = replayed(stranger, programs[0], from_text(text))
            _show(console, subject, programs[0], record)
            context.exit(0 if record.failure is None else 1)
        done: list[Searched] = []
        for searched in search_all(stranger, programs, preemptions, seconds):
            done.append(searched)
            search, name = searched.search, searched.program.name
            if search.schedules:
                console.print(f"{name}: {counts_of(search)}", soft_wrap=True)
            if search.failure is not None:
                _show(console, subject, searched.program, search.failure)
                context.exit(1)
    console.print(_conformant(programs, done, preemptions), soft_wrap=True)


@contextmanager
def _scheduled(stranger: Stranger) -> Iterator[None]:
    """Have the class under control.

    Raises:
        Problem: it cannot be scheduled, or a thread waits for something that is not.
    """
    try:
        with stranger.active():
            yield
    except Stalled as stalled:
        raise Problem(str(stalled), EXIT_SUBJECT_FAILED) from stalled
    except SchedulingError as error:
        raise Problem(str(error), EXIT_USAGE) from error


def _show(console: Console, subject: str, program: Shared, record: Record) -> None:
    text = as_text(record.chosen())
    words = ["purgatory", "schedule", subject, "--program", program.name, "--schedule", text]
    print_run(console, record, shlex.join(words))


def _conformant(programs: list[Shared], done: list[Searched], preemptions: int) -> str:
    """Return what was tried without a finding."""
    made = sum(each.search.schedules for each in done)
    whole = len(
        {
            each.program.name
            for each in done
            if each.preemptions == preemptions and each.search.complete
        }
    )
    tried = f"{len(programs)} programs, {made:,} schedules: nothing is wrong"
    if whole == len(programs):
        return f"{tried} with {preemptions} preemptions at the most"
    return (
        f"{tried}; every schedule with one preemption was tried, and those with {preemptions} of "
        f"{whole} programs: --seconds gives more time"
    )
