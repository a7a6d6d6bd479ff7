"""Read files of cases in JSON lines: a header, and behind it the lines of the case."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def known_cases(path: Path) -> Iterator[tuple[str, dict[str, Any], list[bytes]]]:
    """Yield name, header and lines of each case; the file's first line says what it holds."""
    lines = path.read_bytes().splitlines()[1:]
    starts = [number for number, line in enumerate(lines) if line.startswith(b'{"case"')]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        header = json.loads(lines[start])
        yield header.pop("case"), header, lines[start + 1 : end]
