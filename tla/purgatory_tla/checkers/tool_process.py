"""A checker as a child process: its lines as they come, and its whole process group ended.

Whatever happens (the time is over, the user interrupts, the reader fails), nothing that was
started here goes on running afterwards.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from purgatory_tla.errors import MissingTool

_LONGEST_LINE = 4 * 2**20
_TERMINATE_SECONDS = 1.0
_EXIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a process: its code, and whether its time was over."""

    code: int
    timed_out: bool


def run_tool(
    command: Sequence[str | Path],
    *,
    folder: Path,
    on_line: Callable[[str], None],
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Exit:
    """Run a command to its end; standard error comes with standard output.

    Args:
        command: the program and its arguments.
        folder: the working folder of the program.
        on_line: called with every line, its newline removed.
        timeout: seconds after which the program is ended; None for no limit.
        environment: variables to add to those of this process.

    Raises:
        MissingTool: the program cannot be started.
    """
    words = [str(word) for word in command]
    try:
        process = _start(words, folder, {**os.environ, **(environment or {})})
    except OSError as error:
        raise MissingTool(f"'{words[0]}' cannot be started: {error.strerror}") from error
    time_is_over = threading.Event()

    def end_in_time() -> None:
        time_is_over.set()
        _end_tree(process)

    watchdog = threading.Timer(timeout, end_in_time) if timeout is not None else None
    try:
        if watchdog is not None:
            watchdog.start()
        assert process.stdout is not None
        while line := process.stdout.readline(_LONGEST_LINE):
            on_line(line.decode("utf-8", errors="replace").rstrip("\r\n"))
        code = process.wait()
    finally:
        if watchdog is not None:
            watchdog.cancel()
            watchdog.join()
        _end_tree(process)
        if process.stdout is not None:
            process.stdout.close()
    return Exit(code, time_is_over.is_set())


if sys.platform == "win32":

    def _start(
        command: list[str], folder: Path, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            subprocess.run(
                ("taskkill", "/T", "/F", "/PID", str(process.pid)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_SECONDS)

else:

    def _start(
        command: list[str], folder: Path, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        """End the process and its group: gently, then for certain.

        The group is signalled also where the process itself has exited: others may be left in it.
        """
        if process.poll() is None:
            _signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_TERMINATE_SECONDS)
        _signal_group(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_SECONDS)

    def _signal_group(group: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
