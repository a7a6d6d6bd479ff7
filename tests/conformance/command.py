"""The command line, run in this process or in one of its own."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from purgatory_conformance.command_line import main

SCRIPT = Path(sys.executable).parent / "purgatory"


def purgatory(
    folder: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, in this process: a start of its own takes a second."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        chdir(folder),
        patch.dict(os.environ, {"COLUMNS": "100", **(environment or {})}),
        patch.object(sys, "argv", ["purgatory", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = int(str(ended.code))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def purgatory_process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, as the installed script does, in a process of its own."""
    return subprocess.run(
        [str(SCRIPT), *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
