"""Grades of answers that are no subject: predictions, runs against a claim, a class of a lesson."""

import subprocess
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from purgatory_conformance.describing.steps import (
    describe_operation,
)
from purgatory_conformance.describing.words import counted
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, EXIT_USAGE, Problem
from purgatory_course.teaching.beginnings import some_outcome
from purgatory_course.teaching.comparing import Comparison
from purgatory_course.teaching.counting import Grown
from purgatory_course.teaching.gradable import Compared, Predicted, Run
from purgatory_judge.case_judge import Judge, right_outcomes
from purgatory_judge.components import narrowed
from purgatory_judge.registry import judged
from purgatory_model.claims import memory_pool as pool_claims
from purgatory_model.claims import timer as timer_claims
from purgatory_model.claims.explorer import explore
from purgatory_spec.cases import Case, read_case
from purgatory_spec.jsonlines import InvalidDocument, encode_line
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, MemoryPoolConfiguration, TimerConfiguration

_SECONDS = 60.0

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Grade:
    """A grade: whether an answer is right, and the lines that say so or show the fault."""

    solved: bool
    lines: tuple[str, ...]


def grade_prediction(exercise: Predicted, file: Path) -> Grade:
    """Hold the outcomes of a case file against the model; the first wrong one is told.

    Raises:
        Problem: the file cannot be read, asks other steps, or lacks an outcome.
    """
    case = _case(file)
    made_with = case.header.configuration, case.header.profile, case.operations
    if made_with != (exercise.configuration, exercise.profile, exercise.steps):
        raise Problem(f"{file}: the header and the operations must stay as they were", EXIT_USAGE)
    judge = judged(case.component).judge(exercise.configuration, exercise.profile, ())
    lines: list[str] = []
    for number, step in enumerate(case.steps, start=1):
        says = f"{number:3}  {describe_operation(step.operation)}"
        if step.outcome is None:
            missing = f"step {number} has no outcome yet; add it behind the operation, such as"
            raise Problem(f"{file}: {missing} {some_outcome(exercise)}", EXIT_USAGE)
        outcome = _graded(exercise, judge, step.operation, step.outcome)
        divergence = judge.step(step.operation, outcome).divergence
        if divergence is not None:
            lines.append(f"{says}  ✗ {divergence.rule}")
            lines += [
                f"     expected    {divergence.expected}",
                f"     predicted   {divergence.seen}",
            ]
            return Grade(False, tuple(lines))
        lines.append(f"{says}  ✓")
    return Grade(True, (*lines, f"Solved: all {len(lines)} outcomes are as the rules say."))


def _graded(exercise: Predicted, judge: Judge, operation: Operation, predicted: Outcome) -> Outcome:
    """Return the outcome that is held against the model: with its own events if counts are all."""
    if not exercise.counts_only:
        return predicted
    right = sorted(right_outcomes(judge, operation), key=encode_line)
    filled = [msgspec.structs.replace(each, observed=predicted.observed) for each in right]
    return next((each for each in filled if each in right), filled[0])


def grade_run(exercise: Run, file: Path) -> Grade:
    """Follow a case file from the model's first state until the claim is false.

    Raises:
        Problem: the file cannot be read, is of another component, or asks what the model refuses.
    """
    case = _case(file)
    if case.header.configuration != exercise.configuration:
        raise Problem(f"{file}: the header must stay as it was", EXIT_USAGE)
    try:
        taken = _LOOKS[exercise.component](exercise.claim, case)
    except (ValueError, StopIteration) as error:
        raise Problem(f"{file}: the model cannot take a step: {error}", EXIT_USAGE) from error
    if taken is None:
        return Grade(False, (f"The claim holds in all {counted(len(case.steps), 'step')}.",))
    words, fewest = f"Solved: step {taken} makes the claim false", _fewest(exercise)
    if taken > fewest:
        return Grade(True, (f"{words}; the explorer needs {counted(fewest, 'step')}.",))
    return Grade(True, (f"{words}, and the explorer needs as many.",))


def grade_class(exercise: Compared, file: Path, seed: int) -> Grade:
    """Compare a class with the model on random steps, in a process of its own.

    Raises:
        Problem: the process does not end in time, or the class cannot be made.
    """
    task = [str(file.resolve()), str(seed), msgspec.json.encode(exercise).decode()]
    seen = _in_a_process(file, "comparing", task, Comparison)
    if not seen.steps:
        words = f"Solved: {file.name} does as the model in {seen.runs} runs, {seen.compared} steps."
        return Grade(True, (words,))
    steps = [f"{number:3}  {words}" for number, words in enumerate(seen.steps, start=1)]
    return Grade(False, (*steps, f"     expected  {seen.expected}", f"     seen      {seen.seen}"))


def grade_work(file: Path, name: str) -> Grade:
    """Count the work of the calls of a timer, in a process of its own.

    Raises:
        Problem: the process does not end in time, or the class cannot be made.
    """
    found = _in_a_process(file, "counting", [str(file.resolve()), name], list[Grown])
    if not found:
        return Grade(True, ())
    step, expected, seen = found[0].told()
    return Grade(False, (f"  1  {step}", f"     expected  {expected}", f"     seen      {seen}"))


def _in_a_process(file: Path, module: str, task: list[str], answer: type[Answer]) -> Answer:
    """Return the answer of a module of ours about a student's file, from a process of its own."""
    command = [sys.executable, "-P", "-m", f"purgatory_course.teaching.{module}", *task]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        words = f"{file}: no answer after {_SECONDS:g} s; does a loop end?"
        raise Problem(words, EXIT_SUBJECT_FAILED) from error
    if done.returncode != 0 or not done.stdout.strip():
        last = (done.stderr.strip() or "it ended by itself").splitlines()[-1]
        raise Problem(f"{file}: {last}", EXIT_SUBJECT_FAILED)
    try:
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=answer)
    except msgspec.MsgspecError as error:
        raise Problem(f"{file}: its code has ended the process", EXIT_SUBJECT_FAILED) from error


def _case(file: Path) -> Case:
    try:
        return read_case(file)
    except InvalidDocument as error:
        raise Problem(f"{error}; the answer to this exercise is a case file", EXIT_USAGE) from error


State = TypeVar("State", bound=Hashable)


def _first_broken(
    initial: State,
    successors: Callable[[State, Operation], Iterable[tuple[Outcome, State]]],
    broken: Callable[[State, tuple[Operation, Outcome], State], str | None],
    operations: Sequence[Operation],
) -> int | None:
    """Return the number of the step that breaks a claim; None where none does."""
    state = initial
    for number, operation in enumerate(operations, start=1):
        outcome, after = next(iter(successors(state, operation)))
        if broken(state, (operation, outcome), after):
            return number
        state = after
    return None


def _looked_at_timer(claim: str, case: Case) -> int | None:
    instance = timer_claims.Instance(narrowed(case.header.configuration, TimerConfiguration))
    model, broken = instance.model(), timer_claims.breaks(instance, claim)
    return _first_broken(model.initial(), model.successors, broken, case.operations)


def _looked_at_pool(claim: str, case: Case) -> int | None:
    made_with = narrowed(case.header.configuration, MemoryPoolConfiguration)
    instance = pool_claims.PoolInstance(made_with)
    model, broken = instance.model(), pool_claims.breaks(instance, claim)
    return _first_broken(model.initial(), model.successors, broken, case.operations)


_LOOKS = {Component.TIMER: _looked_at_timer, Component.MEMORY_POOL: _looked_at_pool}


def _fewest(exercise: Run) -> int:
    """Return the length of the explorer's shortest run, on the instance of the exercise."""
    if exercise.component is Component.TIMER:
        made_with = narrowed(exercise.configuration, TimerConfiguration)
        timer = timer_claims.Instance(made_with, last_ms=made_with.start_ms + 6)
        broken = timer_claims.breaks(timer, exercise.claim)
        way = explore(timer.model().initial(), timer.steps, broken).counterexample
        return len(way.path) if way else 0
    pool = pool_claims.PoolInstance(narrowed(exercise.configuration, MemoryPoolConfiguration))
    broken_pool = pool_claims.breaks(pool, exercise.claim)
    found = explore(pool.model().initial(), pool.steps, broken_pool).counterexample
    return len(found.path) if found else 0
