"""Has the suite judge answers that are implementations, and tells the result in words of a class.

An answer takes the place of the naive implementation in an adapter project, which is judged as any
subject is: in a process of its own, by vectors and generated cases, with the shortest failing case.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from msgspec.structs import replace

from purgatory_conformance.checking import Check, judged, keep
from purgatory_conformance.commands.options import opened
from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import counted
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.opening import quietly
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.reporting.results import FailureLine, Results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import profile_of
from purgatory_course.teaching.gradable import Built, Judged
from purgatory_course.teaching.grading import grade_work
from purgatory_spec.jsonlines import InvalidDocument, decode_line
from purgatory_spec.messages import Do
from purgatory_spec.profiles import Component, TimerProfile

_SOLUTION = "solution.py"
_OPEN_TO_ANSWERS = ("purgatory_model.arithmetic", "purgatory_spec")
"""Our modules that an answer may import: the others have answers in them."""


def grade_implementation(
    exercise: Built | Judged, name: str, file: Path, seed: int, work: Path
) -> int:
    """Have the suite judge an answer, and print what it says; the exit code.

    Raises:
        Problem: the file is no answer to this exercise.
    """
    if isinstance(exercise, Built):
        text = source_of(file, exercise.task, tuple(own for own, _ in exercise.names))
        if exercise.constant_work:
            work_done = grade_work(file, exercise.names[0][0])
            for line in work_done.lines:
                click.echo(line)
            if not work_done.solved:
                return 1
        folder = work / "course" / name
        _lay_out(exercise, text, folder, name)
        asked, component = opened(str(folder), "", work, "", tell=quietly), exercise.component
    else:
        source_of(file, exercise.task, (exercise.name,))
        sys.path.insert(0, str(file.resolve().parent))
        asked = opened(f"{file.stem}:{exercise.name}", "", work, "")
        component = Component.TIMER
        if told := _declares_otherwise(exercise, asked):
            asked.subject.close()
            click.echo(told)
            return 1
    of_whom = Check(asked, "quick", seed, work)
    try:
        results = judged(of_whom, component)
    finally:
        asked.subject.close()
    code = results.footer.exit_code
    rule = exercise.rule if isinstance(exercise, Judged) else ""
    if isinstance(exercise, Judged) and rule and _is_caught(exercise, results):
        click.echo(f"Solved: the suite catches {file.name} by {rule}.")
        return 0
    if code == 0 and not rule:
        seen = f"{counted(results.footer.cases, 'case')}, {counted(results.footer.steps, 'step')}"
        click.echo(f"Solved: {file.name} does as the rules say in {seen}.")
        return 0
    written, page = keep(of_whom, [results])
    results = in_words_of_a_class(results)
    print_results(standard_output(), [results], results_path=str(written), report_path=str(page))
    if isinstance(exercise, Judged) and rule:
        if any(cause.rule == rule for cause in results.causes):
            needed = " and ".join(kind.__name__.lower() for kind in exercise.needs)
            click.echo(f"The shortest case of {rule} shows another fault: it needs no {needed}.")
        else:
            click.echo(f"The suite does not catch it by {rule}.")
    return code or 1


def _declares_otherwise(exercise: Judged, asked: OpenSubject) -> str:
    """Return what is wrong with the declared choices; empty where they are those of the task."""
    declared = profile_of(asked.subject, Component.TIMER)
    given = msgspec.structs.replace(exercise.profile, observables=declared.observables)
    if declared == given:
        return ""
    names = TimerProfile.__struct_fields__
    strange = [name for name in names if getattr(declared, name) != getattr(given, name)]
    return f"The subject declares another {' and another '.join(strange)} than the exercise asks."


def _is_caught(exercise: Judged, results: Results) -> bool:
    """Decide whether the rule is broken by a case that has all operations that it needs."""
    asked = [
        {type(step.operation) for step in cause.steps}
        for cause in results.causes
        if cause.rule == exercise.rule
    ]
    return any(kinds.issuperset(exercise.needs) for kinds in asked)


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


def source_of(file: Path, task: str, names: tuple[str, ...]) -> str:
    """Return the text of a solution that defines all names of the exercise.

    Raises:
        Problem: the file cannot be read, is no Python, lacks a name, or uses ours.
    """
    try:
        text = file.read_text(encoding="utf-8")
        compiled = compile(text, file.name, "exec")
        strange = sorted(_ours(ast.parse(text)))
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{file}: {error}", EXIT_USAGE) from error
    except (SyntaxError, ValueError) as error:
        raise Problem(f"{file} is no Python: {error}", EXIT_USAGE) from error
    for wanted in names:
        if wanted not in compiled.co_names:
            raise Problem(f"{file} defines no {wanted}. The task: {task}", EXIT_USAGE)
    if strange:
        words = f"{file} uses {strange[0]}; the answer must be your own. It may import"
        raise Problem(f"{words} {' and '.join(_OPEN_TO_ANSWERS)} of ours.", EXIT_USAGE)
    return text


def _ours(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of ours, and the ways to import by name, that an answer may not use."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Name) and node.id in ("__import__", "exec", "eval"):
            names = [node.id]
        for name in names:
            is_open = any(f"{name}.".startswith(f"{each}.") for each in _OPEN_TO_ANSWERS)
            if name.startswith(("purgatory", "importlib", "__", "exec", "eval")) and not is_open:
                yield name


def _lay_out(exercise: Built, source: str, folder: Path, name: str) -> None:
    """Write the adapter project with the solution in the place of the naive implementation."""
    files = project(Language.PYTHON, (exercise.component,), Clock.VIRTUAL, name)
    taken = ", ".join(f"{own} as {called}" for own, called in exercise.names)
    feature, stands_in = exercise.not_asked
    files[Path(exercise.replaces)] = f"from solution import {taken}\n{stands_in}\n"
    files[Path(_SOLUTION)] = source
    case = Path(f"{exercise.component}_case.py")
    if feature:
        files[case] = files[case].replace(f'"{feature}", ', "")
    declared = "".join(
        f'        "{choice}": {json.dumps(value)},\n' for choice, value in exercise.declares
    )
    files[case] = files[case].replace(_PROFILE, f"{_PROFILE}{declared}", 1)
    write(files, folder)


_PROFILE = "    PROFILE = {\n"
"""The line of the kit behind which a project declares its choices."""
