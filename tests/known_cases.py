"""Read files of cases in JSON lines; the first line of each says what it holds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def known_cases(path: Path) -> Iterator[tuple[str, dict[str, Any], list[bytes]]]:
    """Yield name, header and lines of each case: a header, and behind it the lines."""
    lines = path.read_bytes().splitlines()[1:]
    starts = [number for number, line in enumerate(lines) if line.startswith(b'{"case"')]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        header = json.loads(lines[start])
        yield header.pop("case"), header, lines[start + 1 : end]


def known_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, one of each line."""
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
