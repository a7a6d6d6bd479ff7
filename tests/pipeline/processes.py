"""Functions that tests share which start programs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

PURGATORY = str(Path(sys.executable).with_name("purgatory"))
"""The program."""


def may_be_interrupted() -> None:
    """Run in a child before its program begins: a test run in the background ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def purgatory(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, to its end."""
    return subprocess.run(
        [PURGATORY, *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
