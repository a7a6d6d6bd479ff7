"""Writes results into a folder and kills itself at a given point; run by a test."""

# Arguments: the folder, the point, and what the rows are about.

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from purgatory_traces.engines.sinks import Conclusion, ResultWriter
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, VerdictRow

POINTS = ("rows", "tables", "rename", "renamed", "manifest", "cleaning", "never")


def die() -> None:
    """End as kill -9 does: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, point: str, about: str) -> None:
    """Write results; at the point, die."""
    rename, replace, remove = Path.rename, Path.replace, shutil.rmtree

    def renaming(path: Path, target: Path) -> Path:
        if point == "rename":
            die()
        rename(path, target)
        if point == "renamed":
            die()
        return target

    committed: list[Path] = []

    def replacing(path: Path, target: Path) -> Path:
        if point == "manifest":
            die()
        committed.append(target)
        return replace(path, target)

    def removing(folder: str | Path, **how: Any) -> None:
        if point == "cleaning" and committed:
            die()
        remove(folder, **how)

    Path.rename = renaming  # type: ignore[method-assign, assignment]
    Path.replace = replacing  # type: ignore[method-assign, assignment]
    shutil.rmtree = removing  # type: ignore[assignment]
    with ResultWriter(folder, chunk_bytes=2000) as writer:
        for number in range(40):
            run = f"{about}-{number}"
            writer.write([VerdictRow(run, "", "timer", "conforms", 3, 3)])
            writer.write([CoverageRow(run, "TIMER-SIZE", 1), QuarantineRow("f", number, run, "x")])
            if point == "rows" and number == 30:
                die()
        writer.finish()
        if point == "tables":
            die()
        writer.commit(Conclusion("local", 4, {"conforms": 40}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
