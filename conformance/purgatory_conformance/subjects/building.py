"""Adapters that have to be built: a tool runs, one process at a time, and its end is looked at."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from purgatory_conformance.problems import EXIT_MISSING_TOOL, EXIT_SUBJECT_FAILED, Foreseen

_BUILD_SECONDS = 600.0
_OUTPUT_LINES = 30


class MissingTool(Foreseen):
    """A program that is needed is not installed."""

    exit_code = EXIT_MISSING_TOOL

    def __init__(self, tool: str, advice: str) -> None:
        """Keep the tool's name and the sentence that says what to install."""
        super().__init__(f"'{tool}' is not installed: {advice}")
        self.tool = tool
        self.advice = advice


class BuildFailed(Foreseen):
    """The adapter cannot be built; ``output`` holds the last lines of what the build said."""

    exit_code = EXIT_SUBJECT_FAILED

    def __init__(self, problem: str, output: str = "") -> None:
        """Keep what went wrong and the build's last lines."""
        super().__init__(f"{problem}\n{output}" if output else problem)
        self.problem = problem
        self.output = output


def installed(tool: str, advice: str) -> str:
    """Return the path of an installed program.

    Raises:
        MissingTool: the program is not installed; the advice says what to install.
    """
    path = shutil.which(tool)
    if path is None:
        raise MissingTool(tool, advice)
    return path


def run_build(command: Sequence[str], folder: Path, name: str) -> None:
    """Run a build command in a folder, its program given by the path; it has ten minutes.

    Raises:
        BuildFailed: the command, which the error calls ``name``, failed or took too long.
    """
    try:
        finished = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise BuildFailed(f"{name} was not done after {_BUILD_SECONDS:.0f} s") from expired
    except OSError as error:
        raise BuildFailed(f"{name} cannot be started: {error}") from error
    if finished.returncode != 0:
        output = "\n".join(finished.stdout.splitlines()[-_OUTPUT_LINES:])
        raise BuildFailed(f"{name} ended with exit code {finished.returncode}", output)


@contextmanager
def sole_builder(lock: Path) -> Iterator[None]:
    """Hold the lock file, which the system lets go of even where its holder is killed.

    Raises:
        BuildFailed: another process holds it for ten minutes.
    """
    deadline = time.monotonic() + _BUILD_SECONDS
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("ab") as file:
        while not _try_lock(file):
            if time.monotonic() > deadline:
                raise BuildFailed(f"another process has held {lock} for {_BUILD_SECONDS:.0f} s")
            time.sleep(0.1)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
