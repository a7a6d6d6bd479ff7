"""The command that runs a user's own class under chosen interleavings, and how runs are printed."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Final, cast

import click
from rich.console import Console

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.opening import open_subject
from purgatory_conformance.problems import (
    EXIT_INCONCLUSIVE,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_lab.scheduling.errors import SchedulingError, Stalled
from purgatory_lab.scheduling.history import CALLS, RETURNS
from purgatory_lab.scheduling.run import Mark, Record
from purgatory_lab.scheduling.schedule import as_text, from_text, letter
from purgatory_lab.scheduling.search import Search
from purgatory_lab.scheduling.strangers.programs import Shared
from purgatory_lab.scheduling.strangers.runs import Stranger
from purgatory_lab.scheduling.strangers.search import (
    Searched,
    programs_of,
    replayed,
    search_all,
)
from purgatory_model.overlapping.interleaving import Returned
from purgatory_spec.operations import Operation

_WIDEST: Final = 60
_NARROWEST: Final = 24
_BETWEEN: Final = 2
_OF_CALLS: Final = (CALLS, RETURNS)

Describe = Callable[[Operation], str]


def columns(record: Record, describe: Describe, width: int = 120) -> list[str]:
    """Return the lines of a run.

    Args:
        record: The run.
        describe: A call in words.
        width: Of the lines, characters; but no column is made too narrow to read.
    """
    threads = sorted({mark.thread for mark in record.marks})
    if not threads:
        return ["nothing happened"]
    share = min(max(width // len(threads) - _BETWEEN, _NARROWEST), _WIDEST)
    heads = [f"{letter(thread)}: {record.names[thread]}".ljust(share) for thread in threads]
    lines = [(" " * _BETWEEN).join(heads).rstrip()]
    for mark in record.marks:
        indent = " " * (threads.index(mark.thread) * (share + _BETWEEN))
        first, further = ("", "    ") if mark.what in _OF_CALLS else ("  ", "    ")
        words = wrap(
            words_of(mark, describe), share, initial_indent=first, subsequent_indent=further
        )
        lines += [indent + line for line in words]
    return lines


def words_of(mark: Mark, describe: Describe) -> str:
    """Return a mark of the record in words."""
    about = mark.about
    if isinstance(about, Returned):
        return _returned(about)
    if mark.what == CALLS:
        return f"> {describe(cast('Operation', about))}"
    name = getattr(about, "name", None)
    return f"{mark.what} of {name}" if isinstance(name, str) else mark.what


def _returned(returned: Returned) -> str:
    if returned.raised is not None:
        return f"< refused: {returned.raised.value}"
    result = returned.result
    match result:
        case None:
            return "<"
        case bool():
            return f"< {str(result).lower()}"
        case int():
            return f"< {result}"
        case _:
            return f"< {', '.join(result) or 'nothing'}"


_WIDE: Final = 160


def wide_console() -> Console:
    """Return the terminal; a file or a pipe gets wide lines."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def counts_of(search: Search) -> str:
    """Return the number of schedules in words."""
    if not search.by_preemptions:
        return f"{search.schedules} random schedules"
    counts = ", ".join(
        f"{count} with {number}" for number, count in enumerate(search.by_preemptions)
    )
    rest = "" if search.complete or search.failure is not None else "; more are left"
    return f"{search.schedules} schedules ({counts} preemptions){rest}"


@contextmanager
def problems_of_runs() -> Iterator[None]:
    """Tell a person what cannot be scheduled.

    Raises:
        Problem: the code cannot be scheduled, a schedule does not fit, or a thread waits for
            something that is not scheduled.
    """
    try:
        yield
    except Stalled as stalled:
        raise Problem(str(stalled), EXIT_SUBJECT_FAILED) from stalled
    except SchedulingError as error:
        raise Problem(str(error), EXIT_USAGE) from error


def print_run(console: Console, record: Record, again: str) -> None:
    """Print a run in columns, what came of it, and the command that makes it again."""
    for line in columns(record, describe_operation, console.width):
        console.print(line, markup=False, soft_wrap=True)
    said = "nothing is wrong" if record.failure is None else str(record.failure)
    console.print(said, markup=False, soft_wrap=True)
    console.print(f"again: {again}", markup=False, soft_wrap=True)


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
    default=25,
    show_default=True,
    help="Time for the search.",
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
    The module is imported, and its locks, waits, sleeps and threads are scheduled: first under
    schedules without a preemption, then with one, and so on as long as there is time.

    Exits with 0 where nothing is wrong, 1 where a schedule breaks a rule, which is shown, 2 where
    the class cannot be scheduled, 3 where a thread waits for something that is not scheduled, 4
    where there was no time for every schedule with one preemption.
    """
    if text is not None and program is None:
        raise click.UsageError("--schedule is a schedule of one program: name it by --program")
    console = wide_console()
    stranger = Stranger(subject, lambda: open_subject(subject, work_folder=work))
    with problems_of_runs(), stranger.active():
        programs = programs_of(stranger, program)
        if text is not None:
            record = replayed(stranger, programs[0], from_text(text))
            _show(console, subject, programs[0], record)
            context.exit(0 if record.failure is None else 1)
        done: list[Searched] = []
        for searched in search_all(stranger, programs, preemptions, seconds):
            done.append(searched)
            failure, name = searched.failure, searched.program.name
            if searched.preemptions == preemptions or failure is not None:
                console.print(f"{name}: {_counts(searched)}", soft_wrap=True)
            if failure is not None:
                _show(console, subject, searched.program, failure)
                context.exit(1)
    console.print(_tried(programs, done), soft_wrap=True)
    context.exit(0 if _whole(done, min(preemptions, 1)) == len(programs) else EXIT_INCONCLUSIVE)


def _show(console: Console, subject: str, program: Shared, record: Record) -> None:
    text = as_text(record.chosen())
    words = ["purgatory", "schedule", subject, "--program", program.name, "--schedule", text]
    print_run(console, record, shlex.join(words))


def _counts(searched: Searched) -> str:
    random = f", {counts_of(searched.random)}" if searched.random else ""
    return f"{counts_of(searched.search)}{random}"


def _tried(programs: list[Shared], done: list[Searched]) -> str:
    """Return what was tried without a finding."""
    last = done[-1].preemptions
    made = sum(each.schedules for each in done if each.preemptions == last)
    tried = f"{len(programs)} programs, {made:,} schedules: nothing is wrong"
    for bound in range(last, -1, -1):
        if _whole(done, bound) == len(programs):
            every = f"{tried}; every schedule with at most {bound} preemptions was tried"
            return every if bound == last else f"{every}, and some with {last}"
    return f"{tried}; not every schedule was tried, even without a preemption: see --seconds"


def _whole(done: list[Searched], preemptions: int) -> int:
    """Return how many programs were run under every schedule with so many preemptions."""
    return sum(each.search.complete for each in done if each.preemptions == preemptions)
