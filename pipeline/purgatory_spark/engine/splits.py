"""Places of lines in files that are read in splits.

A task that reads a split of a file knows how many lines of the split come before a line, but not
how many of the file do. So rows name the split in the place of the file, by ``split_name``, and
count from the split's beginning; when all splits have been read, their lines are known and names
and numbers are put right. The name of a split is ordered as its place is among all lines.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from purgatory_traces.results.rows import QuarantineRow, VerdictRow

_MARK = "\0"

AnyRow = TypeVar("AnyRow", VerdictRow, QuarantineRow)


class Split(NamedTuple):
    """The extent that a task has read of a split; ``empty`` counts empty lines at its end."""

    name: str
    lines: int
    empty: int


class Place(NamedTuple):
    """The file of a split, and how many lines come before the split."""

    file: str
    before: int


def split_name(file: str, start: int) -> str:
    """Return the name of the split that begins with a byte of a file; the file's for the first."""
    return f"{file}{_MARK}{start:020d}" if start else file


def file_of(name: str) -> str:
    """Return the file of a split, by the split's name."""
    return name.partition(_MARK)[0]


def places_of(splits: Iterable[Split]) -> dict[str, Place]:
    """Return the places of all splits, by their names."""
    places: dict[str, Place] = {}
    file, before = "", 0
    for split in sorted(splits):
        name = file_of(split.name)
        file, before = name, before if name == file else 0
        places[split.name] = Place(file, before)
        before += split.lines
    return places


@dataclass(frozen=True)
class Placing:
    """Gives rows the files and the lines that they are about.

    Attributes:
        places: The places of all splits.
    """

    places: Mapping[str, Place]

    def __call__(self, row: AnyRow, /) -> AnyRow:
        """Return the row with its place."""
        place = self.places.get(row.file)
        if place is None:
            return row
        moved: AnyRow = row._replace(file=place.file, line=(row.line or 0) + place.before)
        return moved


def aside_of(files: Iterable[str], splits: Iterable[Split]) -> Iterator[QuarantineRow]:
    """Yield rows about facts that no task knew: empty files, empty lines that end a split.

    Empty lines at the end of a file are nothing, as everywhere.
    """
    wanted = set(files)
    found = sorted(each for each in splits if file_of(each.name) in wanted)
    places = places_of(found)
    full = {places[each.name].file for each in found if each.lines > each.empty}
    for file in sorted(wanted - full):
        yield QuarantineRow(file, 0, "", "the file is empty")
    followed: set[str] = set()
    for split in reversed(found):
        file, before = places[split.name]
        if file in followed:
            for line in range(split.lines - split.empty + 1, split.lines + 1):
                yield QuarantineRow(file, before + line, "", "the line is empty")
        if split.lines > split.empty:
            followed.add(file)
