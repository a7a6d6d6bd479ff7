"""Answers are graded: right ones are solved, and of wrong ones the first wrong step is told."""

import re
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, EXIT_USAGE, Problem
from purgatory_course.teaching import beginnings, exercises
from purgatory_course.teaching.gradable import Compared, Judged, Predicted, Run
from purgatory_course.teaching.grading import grade_class, grade_prediction, grade_run
from purgatory_course.teaching.lessons import lessons
from purgatory_judge.case_judge import right_outcomes
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case, Step, decode_case
from purgatory_spec.jsonlines import encode_line
from purgatory_spec.operations import Add, Advance, Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome, ran
from purgatory_spec.profiles import component_of

PREDICTED = {
    number: each for number, each in exercises.EXERCISES.items() if isinstance(each, Predicted)
}


def written(folder: Path, case: Case) -> Path:
    file = folder / "answer.jsonl"
    lines = (encode_line(line) for line in (case.header, *case.steps))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def answered(exercise: Predicted) -> Case:
    """The case with outcomes that the model allows."""
    component = judged(component_of(exercise.configuration))
    judge = component.judge(exercise.configuration, exercise.profile, ())
    steps: list[Step] = []
    for operation in exercise.steps:
        outcome = min(right_outcomes(judge, operation), key=encode_line)
        judge.step(operation, outcome)
        steps.append(Step(operation, outcome))
    return Case(decode_case(beginnings.beginning(exercise, "0"), "beginning").header, tuple(steps))


def changed(outcome: Outcome) -> Outcome:
    """The outcome with another observable, without its last event, or with one too many."""
    for name, value in outcome.observed.items():
        observed = {**outcome.observed, name: value + 1 if isinstance(value, int) else 0}
        return msgspec.structs.replace(outcome, observed=observed)
    events = outcome.events[:-1] if outcome.events else (ran("a"),)
    return msgspec.structs.replace(outcome, events=events)


@pytest.mark.parametrize("number", PREDICTED)
def test_a_right_prediction_is_solved_and_each_wrong_one_told(tmp_path: Path, number: str) -> None:
    """The first are solved, and of the others exactly the changed step is told as wrong."""
    case = answered(PREDICTED[number])
    assert grade_prediction(PREDICTED[number], written(tmp_path, case)).solved
    for at, step in enumerate(case.steps):
        assert step.outcome is not None
        wrong = Step(step.operation, changed(step.outcome))
        steps = (*case.steps[:at], wrong, *case.steps[at + 1 :])
        grade = grade_prediction(PREDICTED[number], written(tmp_path, Case(case.header, steps)))
        assert not grade.solved
        assert grade.lines[-3].startswith(f"{at + 1:3}  ")
        assert "✗" in grade.lines[-3]
        assert len(grade.lines) == at + 3


def test_a_prediction_of_other_steps_is_refused(tmp_path: Path) -> None:
    exercise = PREDICTED["5.1"]
    case = answered(exercise)
    file = written(tmp_path, Case(case.header, case.steps[:-1]))
    with pytest.raises(Problem, match="must stay as they were") as refused:
        grade_prediction(exercise, file)
    assert refused.value.exit_code == EXIT_USAGE
    file.write_text("[]\n", encoding="utf-8")
    with pytest.raises(Problem, match=r"answer\.jsonl"):
        grade_prediction(exercise, file)


@pytest.mark.parametrize("number", PREDICTED)
def test_a_prediction_begins_with_a_file_and_a_form_that_can_be_read(
    tmp_path: Path, number: str
) -> None:
    """The answer is read and is wrong, and without outcomes the form is told."""
    exercise = PREDICTED[number]
    file = tmp_path / "answer.jsonl"
    first, *steps = beginnings.beginning(exercise, number).splitlines()
    filled = (f"{step[:-1]},{beginnings.some_outcome(exercise)}}}" for step in steps)
    file.write_text("\n".join((first, *filled)), encoding="utf-8")
    assert not grade_prediction(exercise, file).solved
    file.write_text(beginnings.beginning(exercise, number), encoding="utf-8")
    with pytest.raises(Problem, match=re.escape(beginnings.some_outcome(exercise))):
        grade_prediction(exercise, file)


SHORTEST: dict[str, tuple[Operation, ...]] = {
    "4.2": (Add("a", 3), Advance(2)),
    "9.2": (Allocate("a", 1), Allocate("b", 1), Allocate("c", 2), Release("a")),
}


@pytest.mark.parametrize("number", SHORTEST)
def test_a_run_breaks_its_claim_or_does_not(tmp_path: Path, number: str) -> None:
    """It is solved, solved with more steps than are needed, and not solved."""
    exercise = exercises.EXERCISES[number]
    assert isinstance(exercise, Run)
    operations = SHORTEST[number]
    first = decode_case(beginnings.beginning(exercise, number), "mine").header

    def graded(*steps: Operation) -> tuple[bool, str]:
        grade = grade_run(exercise, written(tmp_path, Case(first, tuple(map(Step, steps)))))
        return grade.solved, grade.lines[-1]

    needed, needless = len(operations), operations[0]
    if isinstance(needless, Allocate):
        needless = Allocate("z", 3)  # too large, so that it changes nothing
    assert graded(*operations) == (
        True,
        f"Solved: step {needed} makes the claim false, and the explorer needs as many.",
    )
    assert graded(needless, *operations) == (
        True,
        f"Solved: step {needed + 1} makes the claim false; the explorer needs {needed} steps.",
    )
    assert not graded(*operations[:-1])[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('mine')", "mine.py: KeyError: 'mine'"),
        ("import sys; sys.exit(3)", "mine.py: it ended by itself"),
    ],
)
def test_a_class_that_cannot_be_made_is_a_failure_of_its_own(
    tmp_path: Path, body: str, said: str
) -> None:
    """Given a class that throws, or ends the process, when it is made: its own failure is told."""
    exercise = exercises.EXERCISES["2.2"]
    assert isinstance(exercise, Compared)
    file = tmp_path / "mine.py"
    file.write_text(f"class SweepingTimer:\n    def __init__(self):\n        {body}\n")
    with pytest.raises(Problem, match=said) as failed:
        grade_class(exercise, file, seed=1)
    assert failed.value.exit_code == EXIT_SUBJECT_FAILED


def test_each_graded_exercise_is_one_of_a_lesson() -> None:
    """Each is an exercise of a lesson, and every lesson but that of all orders has one."""
    of_lessons = {exercise.number for lesson in lessons() for exercise in lesson.exercises}
    assert set(exercises.EXERCISES) <= of_lessons
    assert {number.partition(".")[0] for number in exercises.EXERCISES} == {
        str(lesson.number) for lesson in lessons()
    } - {"10"}
    assert isinstance(exercises.EXERCISES["11.2"], Judged)
