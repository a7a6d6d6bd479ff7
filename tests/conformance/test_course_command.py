"""``purgatory course``: a solution is graded; a wrong one is shown its shortest failing case."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from purgatory_conformance.kits import Clock, Language, project
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, EXIT_USAGE
from purgatory_conformance.resources import course_folder
from purgatory_course.commands import course
from purgatory_course.teaching.exercises import EXERCISES
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory


def lesson_block(lesson: str, file: str) -> str:
    """The file that a block of a lesson has."""
    text = (course_folder() / lesson).read_text(encoding="utf-8")
    block = re.search(rf'(?ms)^```python title="{file}"\n(.*?)^```$', text)
    assert block is not None
    return block[1]


def naive(component: Component, file: str) -> str:
    """The naive implementation of a component, as ``purgatory init`` writes it."""
    return project(Language.PYTHON, (component,), Clock.VIRTUAL, "any")[Path(file)]


TIMER = lesson_block("wheels-above-wheels.md", "timer.py")
POOL = naive(Component.MEMORY_POOL, "naive_memory_pool.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "source", "right", "wrong", "rule"),
    [
        ("4.3", TIMER, "[0][0] <= self.now_ms", "[0][0] < self.now_ms", "TIMER-NOT-LATE"),
        ("9.3", POOL, "size_bytes if self.strict else 1", "1", "POOL-STRICT"),
    ],
)
def test_a_wrong_solution_is_shown_where_it_goes_wrong(
    tmp_path: Path, number: str, source: str, right: str, wrong: str, rule: str
) -> None:
    """The rule is named, with at most three steps, a replay file and a page."""
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
        ("class Clock: ...\n", "mine.py defines no Timer. The task: Write a timer"),
        (None, "mine.py: no such file"),
    ],
)
def test_a_file_that_is_no_solution_is_told_why(
    tmp_path: Path, source: str | None, said: str
) -> None:
    """One sentence says what is wrong, and nothing was run."""
    if source is not None:
        (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "4.3", "mine.py")
    assert done.returncode == EXIT_USAGE
    assert said in done.stderr
    assert not (tmp_path / "purgatory-work").exists()


@pytest.mark.slow
def test_a_class_that_cannot_be_made_is_a_failure_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Timer: ...\n", encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "4.3", "mine.py")
    assert done.returncode == EXIT_SUBJECT_FAILED
    assert "TypeError: Timer() takes no arguments" in done.stderr


@pytest.mark.slow
def test_a_method_that_answers_wrongly_is_told_as_a_method(tmp_path: Path) -> None:
    """The answer is a class; the lines of the adapter around it are not its author's."""
    silent = "\n_right = Timer.advance\nTimer.advance = lambda *run: [_right(*run), None][1]\n"
    (tmp_path / "mine.py").write_text(TIMER + silent, encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "4.3", "mine.py")
    assert done.returncode == EXIT_SUBJECT_FAILED
    assert "advance must return True or False" in done.stdout
    assert "{" not in done.stdout


def test_exercises_are_listed_and_others_are_not_graded(tmp_path: Path) -> None:
    """Given the exercises that are listed: it is a usage error that names those there are."""
    listed = purgatory(tmp_path, "course", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(EXERCISES)
    done = purgatory(tmp_path, "course", "check", "2.1", "mine.py")
    assert done.returncode == EXIT_USAGE
    assert "there is no exercise 2.1 to grade; there are: 1.1, 1.2, 2.2, " in done.stderr


def test_a_prediction_begins_with_a_file_without_outcomes(tmp_path: Path) -> None:
    """The first step without an outcome is named, and then the first wrong one."""
    begun = purgatory(tmp_path, "course", "begin", "5.2", "--out", "mine.jsonl")
    assert begun.stdout.startswith("written mine.jsonl\nAdd an outcome to each step")
    file = tmp_path / "mine.jsonl"
    done = purgatory(tmp_path, "course", "check", "5.2", "mine.jsonl")
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert "mine.jsonl: step 1 has no outcome yet" in done.stderr
    file.write_text(file.read_text().replace("0}}\n", '0},"outcome":{}}\n', 2), encoding="utf-8")
    done = purgatory(tmp_path, "course", "check", "5.2", "mine.jsonl")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("  1  add a, delay 0 ms  ✗ TIMER-")
    assert done.stdout.splitlines()[1].startswith("     expected    ")
    assert done.stdout.endswith("Not solved yet: exercise 5.2, mine.jsonl.\n")


def test_a_class_begins_with_its_task(tmp_path: Path) -> None:
    """Its first lines name exercise, variant and task; the variants have tasks of their own."""
    tasks = []
    for words in ((), ("--variant", "1")):
        begun = purgatory(tmp_path, "course", "begin", "4.3", *words, "--out", "mine.py")
        assert begun.stdout.startswith("written mine.py\nWrite the class below")
        first, _, task = (tmp_path / "mine.py").read_text(encoding="utf-8").partition("\n")
        tasks.append(task)
        assert first == f'"""Exercise 4.3, variant {words[-1] if words else 0}.'
    assert "rounded down" in tasks[0]
    assert "rounded up" in tasks[1]


def test_an_answer_to_another_variant_is_refused(tmp_path: Path) -> None:
    purgatory(tmp_path, "course", "begin", "1.1", "--out", "mine.jsonl")
    done = purgatory(tmp_path, "course", "check", "1.1", "mine.jsonl", "--variant", "2")
    assert done.returncode == EXIT_USAGE
    assert "answers variant 0 of exercise 1.1, not variant 2" in done.stderr


RIGHT = '{"observed":{"entries":0,"timer_size":0}}'


def answer(folder: Path, *outcomes: str) -> None:
    """Write an answer to exercise 1.2 with these outcomes."""
    purgatory(folder, "course", "begin", "1.2", "--out", "begun.jsonl")
    header, *steps = (folder / "begun.jsonl").read_text(encoding="utf-8").splitlines()
    filled = [f'{step[:-1]},"outcome":{out}}}' for step, out in zip(steps, outcomes, strict=True)]
    (folder / "mine.jsonl").write_text("\n".join((header, *filled)), encoding="utf-8")


def test_progress_is_kept_and_hints_are_given_one_at_a_time(tmp_path: Path) -> None:
    """Two checks and two hints are counted, the day of the solution is kept, and no other one."""
    waits = RIGHT.replace('"entries":0', '"entries":2')
    answer(tmp_path, RIGHT, waits)
    assert purgatory(tmp_path, "course", "check", "1.2", "mine.jsonl").returncode == 1
    first, second, third = (purgatory(tmp_path, "course", "hint", "1.2").stdout for _ in range(3))
    assert first.startswith("Hint 1 of 2: ")
    assert second.startswith("Hint 2 of 2: ")
    assert third == second
    answer(tmp_path, RIGHT, RIGHT)
    assert purgatory(tmp_path, "course", "check", "1.2", "mine.jsonl").returncode == 0
    listed = purgatory(tmp_path, "course", "list").stdout.splitlines()
    assert re.search(r" \[solved \d{4}-\d\d-\d\d, 2 checks, 2 hints\]$", listed[1])
    assert not listed[0].endswith("]")
    (tmp_path / "purgatory-work" / "course" / "progress.json").write_text("[]")
    done = purgatory(tmp_path, "course", "list")
    assert done.returncode == EXIT_USAGE
    assert "delete it to begin anew" in done.stderr


@pytest.mark.slow
def test_watch_checks_each_save_until_the_answer_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong answer is told, and the watch goes on; a right one ends it."""
    saved = [RIGHT.replace('"entries":0', '"entries":1'), RIGHT]

    def each_save(file: Path) -> Iterator[bytes]:
        for outcome in saved:
            answer(tmp_path, RIGHT, outcome)
            yield file.read_bytes()
        pytest.fail("the right answer did not end the watch")

    monkeypatch.setattr(course, "saves", each_save)
    done = purgatory(tmp_path, "course", "watch", "1.2", "mine.jsonl")
    assert done.returncode == 0
    assert done.stdout.count("Not solved yet: exercise 1.2, mine.jsonl.") == 1
    assert done.stdout.endswith("Solved: all 2 outcomes are as the rules say.\n")


def test_pages_of_chosen_lessons_are_written(tmp_path: Path) -> None:
    """Each is written as one page, or a sentence says why not."""
    for words in (("sheet", "--solutions"), ("play",)):
        done = purgatory(tmp_path, "course", *words, "--out", f"{words[0]}.html")
        assert done.stdout == f"written {words[0]}.html\n", done.stderr
        page = (tmp_path / f"{words[0]}.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert "One wheel" in page or words[0] == "play"
    strange = purgatory(tmp_path, "course", "sheet", "--lesson", "12", "--out", "s.html")
    assert strange.returncode == EXIT_USAGE
    assert "there is no lesson 12; there are 1 to 11" in strange.stderr
    nowhere = purgatory(tmp_path, "course", "play", "--out", "no/where.html")
    assert nowhere.returncode == EXIT_USAGE
    assert "no/where.html: No such file or directory" in nowhere.stderr


def test_a_class_is_written_into_a_folder(tmp_path: Path) -> None:
    """Given a folder, four pages are written; where a file has its name, a sentence says so."""
    done = purgatory(tmp_path, "course", "class", "--out", "class")
    pages = sorted(path.name for path in (tmp_path / "class").iterdir())
    assert pages == ["play.html", "rehearsal.html", "room.html", "slides.html"]
    assert done.stdout.count("written class/") == 4
    (tmp_path / "file").touch()
    refused = purgatory(tmp_path, "course", "class", "--out", "file/class")
    assert refused.returncode == EXIT_USAGE
    assert "file/class: Not a directory" in refused.stderr
