"""The command for the course: grades of answers, a class, a sheet, a page to play on."""

import subprocess
import sys
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_course.playing.page import play_page
from purgatory_course.teaching.beginnings import beginning, variant_in, what_to_add
from purgatory_course.teaching.exercises import EXERCISES, exercise
from purgatory_course.teaching.gradable import (
    Built,
    Compared,
    Gradable,
    Judged,
    Predicted,
    Run,
)
from purgatory_course.teaching.grading import (
    Grade,
    grade_class,
    grade_prediction,
    grade_run,
)
from purgatory_course.teaching.judging import grade_implementation, source_of
from purgatory_course.teaching.lessons import Lesson, lessons, slides
from purgatory_course.teaching.paper import room_page
from purgatory_course.teaching.progress import count_check, hints, next_hint, progress
from purgatory_course.teaching.rehearsal import rehearsal_page
from purgatory_course.teaching.sheet import sheet_page
from purgatory_course.teaching.slides import slides_page
from purgatory_course.teaching.watching import saves

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


_LESSONS = click.option(
    "--lesson",
    "chosen",
    type=int,
    multiple=True,
    help="Only this lesson; repeatable.",
)


@click.group()
def course() -> None:
    """The course: exercises and grades, a class, a sheet of exercises, a page to play on."""


@course.command("list")
@WORK
def list_(work: Path) -> None:
    """List the exercises that can be graded, and your progress in each."""
    known = progress(work)
    for number, graded in EXERCISES.items():
        words = known[number].words() if number in known else ""
        click.echo(f"{number:<5} {graded.task}{f' [{words}]' if words else ''}")


_VARIANT = click.option(
    "--variant", type=click.IntRange(min=0), default=None, help="Another form of the exercise."
)


@course.command("begin")
@click.argument("number", metavar="N")
@_VARIANT
@_OUT
def begin_(number: str, variant: int | None, out: Path) -> None:
    """Write the file that an answer to exercise N begins with, and say what to add to it."""
    begun = _exercise(number, variant or 0)
    _write(out, beginning(begun, number, variant or 0))
    click.echo(what_to_add(begun))


@course.command("hint")
@click.argument("number", metavar="N")
@WORK
def hint_(number: str, work: Path) -> None:
    """Give the next hint for exercise N: one at a time."""
    _exercise(number, 0)
    given, words = next_hint(work, number)
    click.echo(f"Hint {given} of {len(hints()[number])}: {words}")


@course.command("watch")
@click.argument("number", metavar="N")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_VARIANT
@WORK
def watch_(number: str, file: Path, variant: int | None, work: Path) -> None:
    """Check FILE at each save, until it solves exercise N. Ctrl-C ends it."""
    _exercise(number, variant or 0)
    words = [number, str(file), "--work", str(work)]
    words += [] if variant is None else ["--variant", str(variant)]
    click.echo(f"watching {file}; each save is checked")
    for _ in saves(file):
        # A process of its own each time: modules that it imports are read anew.
        command = [sys.executable, "-P", "-m", "purgatory_conformance", "course", "check", *words]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        click.echo(f"{done.stdout}{done.stderr}", nl=False)
        if done.returncode == 0:
            return


@course.command("play")
@_OUT
def play_(out: Path) -> None:
    """Write the page to play on: a wheel to change, and a hunt for a defect; it loads nothing."""
    _write(out, play_page())


@course.command("class")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder."
)
def class_(out: Path) -> None:
    """Write a class of ninety minutes: slides, a rehearsal sheet, sheets for the room, the hunt."""
    pages = {
        "slides.html": slides_page(slides()),
        "rehearsal.html": rehearsal_page(slides()),
        "room.html": room_page(),
        "play.html": play_page(),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{out}: {error.strerror}", EXIT_USAGE) from error
    for name, page in pages.items():
        _write(out / name, page)


@course.command("sheet")
@_LESSONS
@click.option("--solutions", is_flag=True, help="With the solutions.")
@_OUT
def sheet_(chosen: tuple[int, ...], solutions: bool, out: Path) -> None:
    """Write the exercises of the lessons on one sheet, to be printed."""
    _write(out, sheet_page(_chosen(chosen), solutions=solutions))


@course.command("check")
@click.argument("number", metavar="N")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds, equal cases.")
@_VARIANT
@WORK
@click.pass_context
def check_(
    context: click.Context, number: str, file: Path, seed: int, variant: int | None, work: Path
) -> None:
    """Say whether FILE solves exercise N, and where not, with the shortest failing case.

    The first line of FILE, as `begin` writes it, names its variant. With --variant an answer to
    another one is refused. A FILE of Python code is run: name files that you trust.

    Exits with 0 for a solution, 1 for a wrong answer, 2 for a file that is no answer to this
    exercise, 3 for a failure of the code in FILE.
    """
    _exercise(number, 0)
    answered = _variant_of(file, number)
    if variant not in (None, answered):
        words = f"{file} answers variant {answered} of exercise {number}, not variant {variant}"
        raise Problem(words, EXIT_USAGE)
    code = _graded(_exercise(number, answered), number, file, seed, work)
    if code in (0, 1):
        count_check(work, number, is_solved=code == 0)
    if code != 0:
        click.echo(f"Not solved yet: exercise {number}, {file.name}.")
    context.exit(code)


def _variant_of(file: Path, number: str) -> int:
    """Return the variant that a file answers.

    Raises:
        Problem: there is no such file.
    """
    if not file.is_file():
        raise Problem(f"{file}: no such file", EXIT_USAGE)
    return variant_in(file.read_text(encoding="utf-8", errors="replace"), number)


def _graded(graded: Gradable, number: str, file: Path, seed: int, work: Path) -> int:
    """Grade an answer, and print the grade; the exit code."""
    match graded:
        case Predicted():
            return _told(grade_prediction(graded, file))
        case Run():
            return _told(grade_run(graded, file))
        case Compared():
            source_of(file, graded.task, (graded.name,))
            return _told(grade_class(graded, file, seed))
        case Built() | Judged():
            return grade_implementation(graded, f"exercise-{number}", file, seed, work)


def _exercise(number: str, variant: int) -> Gradable:
    """Return a variant of the exercise of a number.

    Raises:
        UsageError: there is none that can be graded.
    """
    if number not in EXERCISES:
        known = ", ".join(EXERCISES)
        raise click.UsageError(f"there is no exercise {number} to grade; there are: {known}")
    return exercise(number, variant)


def _chosen(numbers: tuple[int, ...]) -> list[Lesson]:
    """Return the lessons of these numbers, all where none is given.

    Raises:
        UsageError: there is no lesson of a number.
    """
    found = lessons()
    if strange := sorted(set(numbers) - {lesson.number for lesson in found}):
        raise click.UsageError(f"there is no lesson {strange[0]}; there are 1 to {len(found)}")
    return [lesson for lesson in found if not numbers or lesson.number in numbers]


def _told(grade: Grade) -> int:
    """Print a grade; the exit code."""
    for line in grade.lines:
        click.echo(line)
    return 0 if grade.solved else 1
