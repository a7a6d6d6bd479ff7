"""Answers to the exercises: code of the lessons' solutions, and predictions of the model."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from purgatory_conformance.kits import Clock, Language, project
from purgatory_conformance.resources import course_folder
from purgatory_course.teaching.beginnings import beginning
from purgatory_course.teaching.exercises import exercise
from purgatory_course.teaching.gradable import Predicted
from purgatory_judge.case_judge import right_outcomes
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case, Step, decode_case, encode_case
from purgatory_spec.jsonlines import encode_line
from purgatory_spec.profiles import Component, component_of


def predicted(number: str, variant: int = 0) -> Case:
    """The right prediction of an exercise."""
    asked = exercise(number, variant)
    assert isinstance(asked, Predicted)
    judge = judged(component_of(asked.configuration)).judge(asked.configuration, asked.profile, ())
    steps: list[Step] = []
    for operation in asked.steps:
        outcome = min(right_outcomes(judge, operation), key=encode_line)
        judge.step(operation, outcome)
        steps.append(Step(operation, outcome))
    begun = decode_case(beginning(asked, number, variant), "beginning")
    return Case(begun.header, tuple(steps))


def in_a_file(case: Case) -> dict[str, str]:
    """The case as the one file of an answer."""
    return {"answer.jsonl": encode_case(case)}


@cache
def lesson(name: str) -> str:
    """The text of a lesson."""
    return (course_folder() / f"{name}.md").read_text(encoding="utf-8")


def block(name: str, file: str) -> str:
    """The code block of a lesson that has this title."""
    found = re.search(rf'(?ms)^```python title="{file}"\n(.*?)^```$', lesson(name))
    assert found is not None
    return found[1]


def classes(name: str, *wanted: str) -> str:
    """The code of a lesson's blocks that define these classes, up to the code that tries them."""
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", lesson(name))
    chosen = [next(each for each in blocks if f"class {one}" in each) for one in wanted]
    return "\n".join(re.split(r"(?m)^timer = ", each)[0] for each in chosen)


def mended(file: str, given: str, diffs: Sequence[int]) -> str:
    """The file of the last lesson with some of the changes that its solutions show."""
    shown = re.findall(r'(?ms)^```diff title="([^"]+)"\n(.*?)^```$', lesson("judge-your-own"))
    of_file = [text for title, text in shown if title == file]
    for number in diffs:
        lines = of_file[number].splitlines()
        old = "\n".join(line[1:] for line in lines if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        assert given.count(old) == 1, old
        given = given.replace(old, new)
    return given


def naive(component: Component, file: str) -> str:
    """The naive implementation of a component, as ``purgatory init`` writes it."""
    return project(Language.PYTHON, (component,), Clock.VIRTUAL, "any")[Path(file)]
