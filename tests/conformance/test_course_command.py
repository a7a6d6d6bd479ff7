"""``purgatory course``: a solution is graded; a wrong one is shown its shortest failing case."""

from pathlib import Path

import pytest

from purgatory_conformance.command_line import EXIT_SUBJECT_FAILED, EXIT_USAGE
from purgatory_conformance.kits import Clock, Language, project
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory


def naive(component: Component, file: str) -> str:
    """The naive implementation of a component, as ``purgatory init`` writes it."""
    return project(Language.PYTHON, (component,), Clock.VIRTUAL, "any")[Path(file)]


TIMER = naive(Component.TIMER, "heap_timer.py").replace("class HeapTimer", "class Timer")
POOL = naive(Component.MEMORY_POOL, "naive_memory_pool.py")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "source"), [("1", TIMER), ("2", POOL)])
def test_a_solution_is_solved(tmp_path: Path, number: str, source: str) -> None:
    """
    Given a right solution of an exercise
    When it is graded
    Then the answer is that it is solved, and how much was asked
    """
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", number, "mine.py")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("Solved: mine.py does as the rules say in 100 cases, ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "source", "right", "wrong", "rule"),
    [
        ("1", TIMER, "<= self.now_ms", "< self.now_ms", "TIMER-NOT-LATE"),
        ("2", POOL, "size_bytes if self.strict else 1", "1", "POOL-STRICT"),
    ],
)
def test_a_wrong_solution_is_shown_where_it_goes_wrong(
    tmp_path: Path, number: str, source: str, right: str, wrong: str, rule: str
) -> None:
    """
    Given a solution with a defect
    When it is graded
    Then the rule is named, with at most three steps, a replay file and a page
    """
    assert right in source
    (tmp_path / "mine.py").write_text(source.replace(right, wrong), encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", number, "mine.py")
    assert done.returncode == 1
    assert f"✗ broken  {rule} (MUST)" in done.stdout
    assert "← diverges" in done.stdout
    assert "  ✗  4  " not in done.stdout
    assert done.stdout.endswith(f"Not solved yet: exercise {number}, mine.py.\n")
    folder = tmp_path / "purgatory-work" / f"exercise-{number}"
    assert list((folder / "replays").glob(f"{rule}*.jsonl"))
    assert "purgatory-viewer" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def broken(:\n", "mine.py is no Python: invalid syntax"),
        ("class Clock: ...\n", "mine.py defines no Timer; Write a timer"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_solution_is_told_why(
    tmp_path: Path, source: str | None, said: str
) -> None:
    """
    Given a file that is no Python, one without the class, or none
    When it is graded
    Then one sentence says what is wrong, and nothing was run
    """
    if source is not None:
        (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "1", "mine.py")
    assert done.returncode == EXIT_USAGE
    assert said in done.stderr
    assert not (tmp_path / "purgatory-work").exists()


@pytest.mark.slow
def test_a_class_that_cannot_be_made_is_a_failure_of_its_own(tmp_path: Path) -> None:
    """
    Given a class that takes no arguments
    When it is graded
    Then its own error is told, and it is not called a broken rule
    """
    (tmp_path / "mine.py").write_text("class Timer: ...\n", encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "1", "mine.py")
    assert done.returncode == EXIT_SUBJECT_FAILED
    assert "TypeError: Timer() takes no arguments" in done.stdout


def test_exercises_are_listed_and_others_are_not_graded(tmp_path: Path) -> None:
    """
    Given the exercises that are listed
    When another number is given
    Then it is a usage error that names those there are
    """
    listed = purgatory(tmp_path, "course", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == ["1", "2"]
    done = purgatory(tmp_path, "course", "check", "3", "mine.py")
    assert done.returncode == EXIT_USAGE
    assert "there is no exercise 3 to grade; there are: 1, 2" in done.stderr
