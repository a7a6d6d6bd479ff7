"""The files that are kept beside the page: one for each machine and part, in the folder of results.

    docs/reference/results/performance/intel-xeon/expire-virtual.json
                                       MACHINE    PART

A *part* is a measure, or a series of the workload. What is measured anew takes the place of the
machine's earlier file of that part, and of no other: so a part can be measured by itself. The page
follows from the kept files alone.

Of a machine that left no files there may be ``stated.json``: medians that somebody has told.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_lab.benchmarks.bench.results import Machine, Results, read_results
from purgatory_lab.documents import read_document, write_in_lines

KEPT: Final = Path("reference") / "results" / "performance"
STATED: Final = "stated.json"
_NOISE: Final = re.compile(r"\((?:R|TM|C)\)|\b(?:CPU|Processor|\d+-Core)\b|@.*", re.IGNORECASE)


class StatedFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A median of a goal's figure, and the names of both."""

    goal: str
    figure: str
    median: float


class Stated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures of a machine that left no files of results.

    Attributes:
        format: The kind of file.
        version: Of this schema.
        machine: Its name.
        source: The author of the figures, and the known circumstances of the measurement.
        figures: The figures.
    """

    format: Literal["purgatory-bench-stated"]
    version: Literal[1]
    machine: str
    source: str
    figures: Sequence[StatedFigure]


@dataclass(frozen=True)
class KeptMachine:
    """The kept files of one machine.

    Attributes:
        name: Its name, as tables have it.
        files: Its files of results, in the order of their parts' names.
        stated: The figures of the machine that are stated without files of results.
    """

    name: str
    files: Sequence[Results]
    stated: Stated | None


def keep(docs: Path, files: Sequence[Results]) -> list[Path]:
    """Put every part of the files into the folder of its machine; the files that were written."""
    written = []
    for file in files:
        folder = docs / KEPT / slug(machine_name(file.machine))
        for part, results in _parts(file).items():
            path = folder / f"{slug(part)}.json"
            write_in_lines(path, results)
            written.append(path)
    return written


def read_kept(docs: Path) -> list[KeptMachine]:
    """Return all machines with kept results, by the names of their folders.

    Raises:
        Problem: a file is none of ours, or there is none.
    """
    machines = [_machine(folder) for folder in sorted((docs / KEPT).glob("*/"))]
    if not machines:
        raise Problem(f"{docs / KEPT} has no files of results", EXIT_USAGE)
    return machines


def machine_name(machine: Machine) -> str:
    """Return the processor's name without what every name has."""
    return " ".join(_NOISE.sub(" ", machine.processor).split()) or "unknown processor"


def slug(words: str) -> str:
    """Return words as the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower().replace(",", "")).strip("-")


def _machine(folder: Path) -> KeptMachine:
    files = [read_results(path) for path in sorted(folder.glob("*.json")) if path.name != STATED]
    path = folder / STATED
    stated = read_document(path, Stated) if path.is_file() else None
    name = machine_name(files[-1].machine) if files else stated.machine if stated else folder.name
    return KeptMachine(name, files, stated)


def _parts(file: Results) -> Mapping[str, Results]:
    """Return a file for each part, without the rounds of warming up."""
    parts = dict.fromkeys(_part_of(each.name, each.measure, file) for each in file.settings)
    return {part: _only(file, part) for part in parts}


def _part_of(setting: str, measure: str, file: Results) -> str:
    """Return the part of a setting: a part of the workload has all rates of a series."""
    return setting.rpartition(", ")[0] if file.kind == "workload" else measure


def _only(file: Results, part: str) -> Results:
    settings = [each for each in file.settings if _part_of(each.name, each.measure, file) == part]
    names = {each.name for each in settings}
    return msgspec.structs.replace(
        file,
        settings=settings,
        samples=[each for each in file.samples if each.setting in names and each.round >= 1],
        failures=[each for each in file.failures if each.setting in names],
        curves=[each for each in file.curves if each.setting in names],
    )


def stated_medians(machine: KeptMachine) -> Mapping[tuple[str, str], float]:
    """Return the stated medians of a machine, by goal and figure."""
    figures = machine.stated.figures if machine.stated else ()
    return {(each.goal, each.figure): each.median for each in figures}
