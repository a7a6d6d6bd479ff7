"""A student's progress: which exercises are solved, after how many checks, with which hints.

It is one file in the work folder, ``course/progress.json``, and stays from day to day.
"""

import datetime
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from purgatory_conformance.describing.words import counted
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_conformance.whole_files import write_whole


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress in one exercise.

    Attributes:
        checks: How often an answer was checked.
        hints: How many hints were given.
        solved: The day of the first solution, ``YYYY-MM-DD``; empty before.
    """

    checks: int = 0
    hints: int = 0
    solved: str = ""

    def words(self) -> str:
        """Return the progress in words; empty where nothing was done."""
        state = [f"solved {self.solved}"] if self.solved else []
        state += [counted(self.checks, "check")] if self.checks else []
        state += [counted(self.hints, "hint")] if self.hints else []
        return ", ".join(state)


def _file(work: Path) -> Path:
    return work / "course" / "progress.json"


def progress(work: Path) -> dict[str, Progress]:
    """Return the progress in all exercises that were begun, by their numbers.

    Raises:
        Problem: the file is not one that was written here.
    """
    file = _file(work)
    if not file.is_file():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Progress])
    except msgspec.MsgspecError as error:
        raise Problem(f"{file}: {error}; delete it to begin anew", EXIT_USAGE) from error


def _keep(work: Path, known: Mapping[str, Progress]) -> None:
    file = _file(work)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, msgspec.json.format(msgspec.json.encode(known, order="sorted")))


def count_check(work: Path, number: str, *, is_solved: bool) -> None:
    """Count a check of an exercise, and keep the day of its first solution."""
    known = progress(work)
    before = known.get(number, Progress())
    day = datetime.datetime.now(datetime.UTC).date().isoformat() if is_solved else ""
    solved = before.solved or day
    known[number] = msgspec.structs.replace(before, checks=before.checks + 1, solved=solved)
    _keep(work, known)


def next_hint(work: Path, number: str) -> tuple[int, str]:
    """Return the number and the words of the next hint; the last one again where there is none."""
    known = progress(work)
    before, told = known.get(number, Progress()), hints()[number]
    given = min(before.hints + 1, len(told))
    known[number] = msgspec.structs.replace(before, hints=given)
    _keep(work, known)
    return given, told[given - 1]


@cache
def hints() -> dict[str, tuple[str, ...]]:
    """Return the hints of each exercise, in the order in which they are given."""
    text = (files("purgatory_course.teaching") / "hints.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
