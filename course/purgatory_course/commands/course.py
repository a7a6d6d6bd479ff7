"""The commands of the course: exercises and grades, slides, a sheet, the page to play on.

Where an answer is an implementation, it takes the place of the naive one in an adapter project, and
the project is judged as any subject is: in a process of its own, by vectors and generated cases,
with the shortest failing case in the end.
"""

import re
import sys
from pathlib import Path

import click
from msgspec.structs import replace

from purgatory_conformance.checking import Check, judged, keep
from purgatory_conformance.commands.options import WORK, opened
from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import counted
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.opening import quietly
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.reporting.results import FailureLine, Results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_course.playing.page import play_page
from purgatory_course.teaching.exercises import (
    EXERCISES,
    Built,
    Compared,
    Gradable,
    Judged,
    Predicted,
    Run,
    beginning,
    what_to_add,
)
from purgatory_course.teaching.grading import (
    Grade,
    grade_class,
    grade_prediction,
    grade_run,
)
from purgatory_course.teaching.lessons import Lesson, lessons
from purgatory_course.teaching.sheet import sheet_page
from purgatory_course.teaching.slides import slides_page
from purgatory_spec.jsonlines import InvalidDocument, decode_line
from purgatory_spec.messages import Do
from purgatory_spec.profiles import Component

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


_LESSONS = click.option(
    "--lesson",
    "chosen",
    type=int,
    multiple=True,
    help="Only this lesson; repeatable.",
)


@click.group()
def course() -> None:
    """The course: exercises and grades, slides, a sheet of exercises, a page to play on."""


@course.command("list")
def list_() -> None:
    """List the exercises that can be graded."""
    for number, exercise in EXERCISES.items():
        click.echo(f"{number:<5} {exercise.task}")


@course.command("begin")
@click.argument("number", metavar="N")
@_OUT
def begin_(number: str, out: Path) -> None:
    """Write the case file that exercise N begins with, and say what to add to it."""
    exercise = _exercise(number)
    if not isinstance(exercise, Predicted | Run):
        words = f"the answer to exercise {number} is a Python file of your own"
        raise click.UsageError(f"{words}. {exercise.task}")
    _write(out, beginning(exercise))
    click.echo(what_to_add(exercise))


@course.command("play")
@_OUT
def play_(out: Path) -> None:
    """Write the page to play on: a wheel to change, and a hunt for a defect; it loads nothing."""
    _write(out, play_page())


@course.command("slides")
@_LESSONS
@_OUT
def slides_(chosen: tuple[int, ...], out: Path) -> None:
    """Write the lessons as slides: one file, which loads nothing."""
    _write(out, slides_page(_chosen(chosen)))


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
@WORK
@click.pass_context
def check_(context: click.Context, number: str, file: Path, seed: int, work: Path) -> None:
    """Say whether FILE solves exercise N, and where not, with the shortest failing case.

    A FILE of Python code is run: name files that you trust.

    Exits with 0 for a solution, 1 for a wrong answer, 2 for a file that is no answer to this
    exercise, 3 for a failure of the code in FILE.
    """
    exercise = _exercise(number)
    if not file.is_file():
        raise Problem(f"{file}: no such file", EXIT_USAGE)
    match exercise:
        case Predicted():
            code = _told(grade_prediction(exercise, file))
        case Run():
            code = _told(grade_run(exercise, file))
        case Compared():
            _source(file, exercise.task, (exercise.name,))
            code = _told(grade_class(exercise, file, seed))
        case Built() | Judged():
            code = _judged(exercise, f"exercise-{number}", file, seed, work)
    if code != 0:
        click.echo(f"Not solved yet: exercise {number}, {file.name}.")
    context.exit(code)


def _exercise(number: str) -> Gradable:
    """Return the exercise of a number.

    Raises:
        UsageError: there is none that can be graded.
    """
    if number not in EXERCISES:
        known = ", ".join(EXERCISES)
        raise click.UsageError(f"there is no exercise {number} to grade; there are: {known}")
    return EXERCISES[number]


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


def _judged(exercise: Built | Judged, name: str, file: Path, seed: int, work: Path) -> int:
    """Have the suite judge an answer, and print what it says; the exit code."""
    if isinstance(exercise, Built):
        text = _source(file, exercise.task, tuple(own for own, _ in exercise.names))
        folder = work / "course" / name
        _lay_out(exercise, text, folder, name)
        asked, component = opened(str(folder), "", work, "", tell=quietly), exercise.component
    else:
        _source(file, exercise.task, (exercise.name,))
        sys.path.insert(0, str(file.resolve().parent))
        asked = opened(f"{file.stem}:{exercise.name}", "", work, "")
        component = Component.TIMER
    of_whom = Check(asked, "quick", seed, work)
    try:
        results = judged(of_whom, component)
    finally:
        asked.subject.close()
    code = results.footer.exit_code
    rule = exercise.rule if isinstance(exercise, Judged) else ""
    if rule and any(cause.rule == rule for cause in results.causes):
        click.echo(f"Solved: the suite catches {file.name} by {rule}.")
        return 0
    if code == 0 and not rule:
        seen = f"{counted(results.footer.cases, 'case')}, {counted(results.footer.steps, 'step')}"
        click.echo(f"Solved: {file.name} does as the rules say in {seen}.")
        return 0
    written, page = keep(of_whom, [results])
    results = in_words_of_a_class(results)
    print_results(standard_output(), [results], results_path=str(written), report_path=str(page))
    if rule:
        click.echo(f"The suite does not catch it by {rule}.")
    return code or 1


_NO_RESULT = re.compile(r"'\w+' is declared but '(\w+)' has no 'result'; .*")


def in_words_of_a_class(results: Results) -> Results:
    """Return the results with failures told of methods: the lines of the adapter are not theirs."""
    failures = dict[str, FailureLine]()
    for line in results.failures:
        told = _NO_RESULT.sub(r"\1 must return True or False", line.explanation)
        kind = line.kind if told == line.explanation else "gave a wrong answer"
        first = replace(line, kind=kind, explanation=told, asked=_step(line.asked), received="")
        failures.setdefault(told, first)
    why = _NO_RESULT.sub(r"\1 must return True or False", results.footer.why)
    footer = replace(
        results.footer, why=why.removeprefix("the subject did not show a declared observable: ")
    )
    return replace(results, failures=tuple(failures.values()), footer=footer)


def _step(asked: str) -> str:
    """Return the operation of an adapter's request in words; other requests as none."""
    try:
        return describe_operation(decode_line(asked, Do).operation)
    except InvalidDocument:
        return ""


def _source(file: Path, task: str, names: tuple[str, ...]) -> str:
    """Return the text of a solution that defines all names of the exercise.

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
    for wanted in names:
        if wanted not in compiled.co_names:
            raise Problem(f"{file} defines no {wanted}. The task: {task}", EXIT_USAGE)
    return text


def _lay_out(exercise: Built, source: str, folder: Path, name: str) -> None:
    """Write the adapter project with the solution in the place of the naive implementation."""
    files = project(Language.PYTHON, (exercise.component,), Clock.VIRTUAL, name)
    taken = ", ".join(f"{own} as {called}" for own, called in exercise.names)
    files[Path(exercise.replaces)] = f"from solution import {taken}\n"
    files[Path(_SOLUTION)] = source
    write(files, folder)
