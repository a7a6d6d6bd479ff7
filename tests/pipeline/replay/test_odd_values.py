"""Lines with odd values in odd places: whatever they are, the replay says something of the run."""

import json
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

import pytest

from purgatory_traces.errors import Unusable
from purgatory_traces.replay import replay
from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.traces.from_cases import encoded, trace_of_case
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.parsing import place_of

from .run_lines import cases

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

LIST: list[Json] = ["k", "k", 1]
OBJECT: dict[str, Json] = {"a": 1}
OPERATIONS: tuple[Any, ...] = (
    {"op": "add"},
    {"op": "elapse", "to_ms": -5},
    {"op": "lose", "buffer": "b"},
    {"op": "watch", "operation": "o", "keys": [], "delay_ms": -1},
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, 1.5),
    *("", "x", "\0", "\ud800", "wait", "wall", "timer", "inline"),
    *([], {}, LIST, OBJECT, {"kind": "wall"}, *OPERATIONS),
    *([{"rule": "TIMER-NOT-LATE", "variant": "none"}], [{"kind": "ran", "task": "t1"}]),
)
SNAPSHOTS: dict[str, dict[str, Json]] = {
    "timer": {"tasks": [{"task": "t1", "early_ms": 3, "late_ms": 3}], "queued": ["t1"]},
    "purgatory": {
        "operations": [{"operation": "o1", "entries": ["a"], "early_ms": 4, "late_ms": 4}],
        "lists": {"a": ["o1"]},
        "estimate": 1,
    },
    "memory_pool": {"buffers": [{"buffer": "b1", "size_bytes": 3}]},
}


def places(value: Json) -> list[tuple[dict[str, Json] | list[Json], str | int]]:
    """Every place in a value at which something else might stand."""
    found: list[tuple[dict[str, Json] | list[Json], str | int]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [] if key in ("run", "seq") else [(value, key), *places(inner)]
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += [(value, index), *places(inner)]
    return found


def spoil(line: dict[str, Json], draw: Random) -> None:
    """Put something odd into a line, take something away, or add a key."""
    if not (found := places(line)):
        return
    where, key = draw.choice(found)
    what, odd = draw.random(), deepcopy(draw.choice(ODD))
    if what < 0.5:
        where[key] = odd  # type: ignore[index]
    elif what < 0.8:
        del where[key]  # type: ignore[arg-type]
    elif isinstance(where, dict):
        keys = ["zzz", "kind", "task", "operation", "queued", "events", "clock", "deviations"]
        where[draw.choice(keys)] = odd


def spoilt_run(draw: Random) -> list[Located]:
    """A golden vector, perhaps with a snapshot in it or from there on, some lines of it spoilt."""
    trace = trace_of_case(draw.choice(cases()), keeps_names=draw.random() < 0.5)
    lines = [json.loads(encoded(line)) for line in trace]
    if draw.random() < 0.4:
        at = draw.randrange(1, len(lines))
        component = lines[0]["instance"]["component"]
        told = {"kind": "snapshot", "run": "r", "now_ms": 0, **SNAPSHOTS[component]}
        lines[at if draw.random() < 0.5 else 1 : at] = [json.loads(json.dumps(told))]
    for _ in range(draw.randint(1, 3)):
        spoil(draw.choice(lines), draw)
    found = []
    for seq, line in enumerate(lines):
        raw = json.dumps({**line, "run": "r", "seq": seq}).encode()
        try:
            found.append(Located(*place_of(raw), "f", seq + 1, raw))
        except Unusable:
            continue
    return found


@pytest.mark.parametrize("seed", range(8))
def test_something_is_said_of_every_run(seed: int) -> None:
    draw = Random(seed)
    for _ in range(20):
        rows = list(replay(spoilt_run(draw)))
        (row,) = [row for row in rows if isinstance(row, VerdictRow)]
        assert row.verdict in {"conforms", "diverges", "incomplete", "inconclusive"}
        assert (row.reason != "") >= (row.verdict in {"incomplete", "inconclusive"})
        assert "".join(str(part) for row in rows for part in row).encode()
