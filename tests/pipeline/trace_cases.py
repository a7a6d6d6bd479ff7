"""Read runs, and what is to be said of each, from files of JSON lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from purgatory_traces.traces.lines import Begin, Located, TraceLine
from purgatory_traces.traces.parsing import parse, place_of
from tests.known_cases import known_cases


class TraceCase(NamedTuple):
    """A run as an engine hands it over, and what stands in the line above it."""

    name: str
    expected: Mapping[str, object]
    lines: list[Located]

    @property
    def first(self) -> Begin:
        """Return the line with which the run begins."""
        begin = parse(self.lines[0].raw)
        assert isinstance(begin, Begin)
        return begin

    @property
    def rest(self) -> list[TraceLine]:
        """Return the lines behind the first."""
        return [parse(line.raw) for line in self.lines[1:]]


def cases_of(path: Path) -> dict[str, TraceCase]:
    """Return the runs of a file by their names."""
    found: dict[str, TraceCase] = {}
    for name, expected, raws in known_cases(path):
        assert name not in found, name
        lines = [
            Located(*place_of(raw), "trace.jsonl", number, raw)
            for number, raw in enumerate(raws, start=1)
        ]
        found[name] = TraceCase(name, expected, lines)
    return found


def cases_in(folder: Path) -> dict[str, TraceCase]:
    """Return the runs of all files of a folder, by file and name."""
    return {
        f"{path.stem}: {name}": case
        for path in sorted(folder.glob("*.jsonl"))
        for name, case in cases_of(path).items()
    }
