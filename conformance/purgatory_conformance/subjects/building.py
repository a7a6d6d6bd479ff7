"""Builds an adapter by the command that its ``purgatory.toml`` gives."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from purgatory_conformance.subjects.kafka import BuildFailed, MissingTool

_SECONDS: Final = 600.0
_OUTPUT_LINES: Final = 30


def build(command: Sequence[str], folder: Path) -> None:
    """Run a build in the adapter's folder; an empty command builds nothing.

    Raises:
        MissingTool: the command's program is not installed.
        BuildFailed: the build did not end, or not with exit code 0.
    """
    if not command:
        return
    shown = " ".join(command)
    try:
        finished = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        advice = f"the adapter in {folder} is built by: {shown}"
        raise MissingTool(command[0], advice) from error
    except subprocess.TimeoutExpired as expired:
        raise BuildFailed(f"'{shown}' was not done after {_SECONDS:.0f} s") from expired
    if finished.returncode != 0:
        output = "\n".join(finished.stdout.splitlines()[-_OUTPUT_LINES:])
        problem = f"'{shown}' ended in {folder} with exit code {finished.returncode}"
        raise BuildFailed(problem, output)
