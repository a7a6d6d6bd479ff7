"""Symbolic execution of functions with contracts, by CrossHair."""

import subprocess
import sys
from pathlib import Path

CONFIRMED = "Confirmed over all paths"


def crosshair(target: str, folder: Path | None = None) -> str:
    """CrossHair's report on a function or file, within a bounded time."""
    finished = subprocess.run(
        [
            sys.executable,
            "-m",
            "crosshair",
            "check",
            target,
            "--report_all",
            "--analysis_kind=PEP316",
            "--per_condition_timeout=400",
        ],
        capture_output=True,
        text=True,
        timeout=1800,
        cwd=folder,
        check=False,
    )
    return finished.stdout + finished.stderr
