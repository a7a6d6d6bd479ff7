"""Read runs, and what is to be said of each, from files of JSON lines."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from purgatory_pipeline.traces.lines import Begin, Located, TraceLine
from purgatory_pipeline.traces.parsing import parse, place_of


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
    """Return the runs of a file by their names; its first line says what it holds."""
    found: dict[str, TraceCase] = {}
    lines = found.setdefault("", TraceCase("", {}, [])).lines
    for raw in path.read_bytes().splitlines()[1:]:
        if raw.startswith(b'{"case"'):
            expected = json.loads(raw)
            name = expected.pop("case")
            assert name not in found, name
            lines = []
            found[name] = TraceCase(name, expected, lines)
        else:
            run, seq = place_of(raw)
            lines.append(Located(run, seq, "trace.jsonl", len(lines) + 1, raw))
    assert not found.pop("").lines
    return found


def cases_in(folder: Path) -> dict[str, TraceCase]:
    """Return the runs of all files of a folder, by file and name."""
    return {
        f"{path.stem}: {name}": case
        for path in sorted(folder.glob("*.jsonl"))
        for name, case in cases_of(path).items()
    }
