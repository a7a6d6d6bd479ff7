"""Functions that the tests of recorders share: they read back what was recorded, and judge it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from purgatory_traces.engines.local import check_locally
from purgatory_traces.results.rows import QuarantineRow, VerdictRow
from purgatory_traces.traces.byte_streams import CHECKSUM

LONG_S = 120
"""A limit that only a test that hangs reaches."""


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, by their numbers."""
    read = [msgspec.json.decode(raw, type=dict[str, Any]) for raw in path.read_bytes().splitlines()]
    return sorted(read, key=lambda each: each["seq"])


def change(path: Path, right: bytes, wrong: bytes) -> None:
    """Put something else into a file, and take away the checksum that would tell of it."""
    path.write_bytes(path.read_bytes().replace(right, wrong))
    path.with_name(path.name + CHECKSUM).unlink()


def brief(path: Path) -> list[str]:
    """Return what the lines tell, without times and threads."""
    return [_brief(each) for each in lines(path)]


def _brief(line: dict[str, Any]) -> str:
    operation = line.get("operation", {})
    words = [line["kind"], line.get("event"), line.get("task")]
    words += operation.values()
    words += [line.get("result"), line.get("rejected")]
    words += [f"{event['kind']}:{event['task']}" for event in line.get("events", ())]
    return " ".join(str(word) for word in words if word is not None)


def verdict(paths: Iterable[Path]) -> VerdictRow:
    """The verdict on the one run in the files, no line of which is set aside."""
    rows = list(check_locally(list(paths)))
    assert not [row for row in rows if isinstance(row, QuarantineRow)]
    (found,) = [row for row in rows if isinstance(row, VerdictRow)]
    return found
