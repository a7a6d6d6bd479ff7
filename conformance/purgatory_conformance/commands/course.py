"""The commands of the course: what an exercise asks for, and whether a file solves it.

A solution is a plain Python file. It takes the place of the naive implementation in an adapter
project, and the project is judged as any subject is: in a process of its own, by vectors and
generated cases, with the shortest failing case in the end.
"""

from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.checking import Check, judged, keep
from purgatory_conformance.command_line import EXIT_USAGE, Problem
from purgatory_conformance.commands.options import WORK, opened
from purgatory_conformance.describing.words import counted
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.playing.page import play_page
from purgatory_conformance.reporting.terminal import print_results
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class Exercise:
    """An exercise: its task in words, the component, the file that a solution replaces.

    ``names`` are those that the solution defines, each with the name that the project calls.
    """

    task: str
    component: Component
    replaces: str
    names: tuple[tuple[str, str], ...]


EXERCISES = {
    1: Exercise(
        "Write a timer: Timer(tick_ms, start_ms) with now_ms, which the caller sets; "
        "add(task, delay_ms), cancel(task), and advance(run), which calls run(task) for each task "
        "that is due, tick after tick, and says whether there was one. pending has the tasks that "
        "are armed; its length is the size. A delay of 2**31 ms or more is an OverflowError.",
        Component.TIMER,
        "heap_timer.py",
        (("Timer", "HeapTimer"),),
    ),
    2: Exercise(
        "Write a memory pool: MemoryPool(size_bytes, max_single_bytes, strict) as in the naive "
        "pool of `purgatory init --lang python --component memory-pool`, with its Buffer and its "
        "UnboundedPool, and release a buffer only once.",
        Component.MEMORY_POOL,
        "naive_memory_pool.py",
        (
            ("Buffer", "Buffer"),
            ("MemoryPool", "MemoryPool"),
            ("UnboundedPool", "UnboundedPool"),
        ),
    ),
}
"""The exercises that can be graded, by number."""

_SOLUTION = "solution.py"


_OUT = click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file."
)


def _write(out: Path, page: str) -> None:
    """Write a page, and say where.

    Raises:
        Problem: the file cannot be written.
    """
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise Problem(f"{out}: {error.strerror}", EXIT_USAGE) from error
    click.echo(f"written {out}")


@click.group()
def course() -> None:
    """Exercises of the course: list them, and have a solution graded."""


@course.command("list")
def list_() -> None:
    """List the exercises that can be graded."""
    for number, exercise in EXERCISES.items():
        click.echo(f"{number}  {exercise.task}")


@course.command("play")
@_OUT
def play_(out: Path) -> None:
    """Write the page to play on: a wheel to change, and a hunt for a defect; it loads nothing."""
    _write(out, play_page())


@course.command("check")
@click.argument("number", metavar="N", type=int)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds, equal cases.")
@WORK
@click.pass_context
def check_(context: click.Context, number: int, file: Path, seed: int, work: Path) -> None:
    """Say whether FILE solves exercise N, and where not, with the shortest failing case.

    Exits with 0 for a solution, 1 for a broken rule, 2 for a file without the names that are asked
    for, 3 for a failure of the code in FILE.
    """
    exercise = EXERCISES.get(number)
    if exercise is None:
        known = ", ".join(map(str, EXERCISES))
        raise click.UsageError(f"there is no exercise {number} to grade; there are: {known}")
    name = f"exercise-{number}"
    folder = work / "course" / name
    _lay_out(exercise, _source(file, exercise), folder, name)
    asked = opened(str(folder), "", work, "")
    of_whom = Check(asked, "quick", seed, work)
    try:
        results = judged(of_whom, exercise.component)
    finally:
        asked.subject.close()
    code = results.footer.exit_code
    if code == 0:
        seen = f"{counted(results.footer.cases, 'case')}, {counted(results.footer.steps, 'step')}"
        click.echo(f"Solved: {file.name} does as the rules say in {seen}.")
        context.exit(0)
    written, page = keep(of_whom, [results])
    print_results(Console(), [results], results_path=str(written), report_path=str(page))
    click.echo(f"Not solved yet: exercise {number}, {file.name}.")
    context.exit(code)


def _source(file: Path, exercise: Exercise) -> str:
    """The text of a solution that defines all names of the exercise.

    Raises:
        Problem: the file cannot be read, is no Python, or lacks a name.
    """
    try:
        text = file.read_text(encoding="utf-8")
        compiled = compile(text, file.name, "exec")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{file}: {error}", EXIT_USAGE) from error
    except (SyntaxError, ValueError) as error:
        raise Problem(f"{file} is no Python: {error}", EXIT_USAGE) from error
    for wanted, _ in exercise.names:
        if wanted not in compiled.co_names:
            raise Problem(f"{file} defines no {wanted}; {exercise.task}", EXIT_USAGE)
    return text


def _lay_out(exercise: Exercise, source: str, folder: Path, name: str) -> None:
    """Write the adapter project with the solution in the place of the naive implementation."""
    files = project(Language.PYTHON, (exercise.component,), Clock.VIRTUAL, name)
    taken = ", ".join(f"{own} as {called}" for own, called in exercise.names)
    files[Path(exercise.replaces)] = f"from solution import {taken}\n"
    files[Path(_SOLUTION)] = source
    write(files, folder)
