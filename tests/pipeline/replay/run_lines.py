"""Runs for tests: lines as objects or as plain JSON, and what the replay says of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from purgatory_conformance.resources import adapter_folder
from purgatory_spec.cases import Case, read_case
from purgatory_spec.resources import specification_folder
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import Row, VerdictRow
from purgatory_traces.traces.from_cases import encoded
from purgatory_traces.traces.lines import TRACED, Located, TraceLine

Plain = Mapping[str, object]


def located(lines: Iterable[TraceLine | Plain | bytes], run: str = "r") -> list[Located]:
    """The lines as an engine hands them over, each in the place that it says it has."""
    found = []
    for number, line in enumerate(lines, start=1):
        if isinstance(line, bytes):
            raw, seq = line, number - 1
        elif isinstance(line, Mapping):
            raw, seq = json.dumps({"run": run, **line}).encode(), int(str(line["seq"]))
        else:
            raw, seq = encoded(line), line.seq
        found.append(Located(run, seq, "f.jsonl", number, raw))
    return found


def rows_of(lines: Iterable[TraceLine | Plain | bytes]) -> list[Row]:
    """All rows of one run."""
    return list(replay(located(lines)))


def verdict_of(lines: Iterable[TraceLine | Plain | bytes]) -> VerdictRow:
    """The verdict on one run."""
    (row,) = [row for row in rows_of(lines) if isinstance(row, VerdictRow)]
    return row


def vectors() -> list[Path]:
    """The files of the golden vectors of what has traces."""
    folders = [each.value.replace("_", "-") for each in TRACED]
    found = [(specification_folder() / "vectors" / each).glob("*.jsonl") for each in folders]
    return sorted(path for paths in found for path in paths)


def deviations() -> list[Path]:
    """The replay files of Kafka's deviations, of what has traces."""
    files = sorted((adapter_folder("kafka") / "deviations").glob("*.jsonl"))
    return [path for path in files if read_case(path).component in TRACED]


@cache
def cases() -> list[Case]:
    """The golden vectors."""
    return [read_case(path) for path in vectors()]


def numbered(*lines: Plain, first: int = 0) -> list[Plain]:
    """Lines with numbers that grow by one."""
    return [{"seq": seq, **line} for seq, line in enumerate(lines, start=first)]


def timer_begin(**profile: object) -> Plain:
    """The first line of a run of a timer with a stepped executor."""
    return {
        "kind": "begin",
        "instance": {"component": "timer", "profile": {"executor": "stepped", **profile}},
    }


def step(op: str, happened: Sequence[tuple[str, str]] = (), /, **more: object) -> Plain:
    """A step; arguments that an outcome has go there, all others to the operation."""
    outcome = {name: more.pop(name) for name in ("result", "rejected", "observed") if name in more}
    events = [{"kind": kind, "task": task} for kind, task in happened]
    line: dict[str, object] = {"kind": "step", "operation": {"op": op, **more}, "events": events}
    return line | outcome


END: Plain = {"kind": "end"}
