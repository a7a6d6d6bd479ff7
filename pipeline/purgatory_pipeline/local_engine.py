"""The engine without Spark: reads, sorts and replays in this process."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.parsing import place_of
from purgatory_pipeline.replay import replay
from purgatory_pipeline.rows import QuarantineRow, Row
from purgatory_pipeline.trace_lines import Located


def check_locally(paths: Sequence[Path]) -> Iterator[Row]:
    """The rows of all runs in the files."""
    lines: list[Located] = []
    for path in paths:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                try:
                    run, seq = place_of(raw)
                except Unusable as problem:
                    text = raw.decode("utf-8", "backslashreplace")
                    yield QuarantineRow(str(path), number, text, str(problem))
                    continue
                lines.append(Located(run, seq, str(path), number, raw))
    lines.sort()
    yield from replay(lines)
