"""The process of an adapter: started, written to, read from, and ended with all its children.

One thread reads its standard output in chunks into a queue, another keeps the end of its standard
error; whoever waits for a line waits on the queue, so that no system needs to select on pipes. The
reader takes a permit for each chunk, and who uses the chunk gives the permit back: a flood meets a
lack of permits instead of memory. Both queues are a ``SimpleQueue``: unlike a ``Queue``, it has no
lock that Ctrl-C could leave taken, for which the end of the process would wait for ever.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.subject import FailureKind

LONGEST_LINE = 4 * 2**20
"""The bytes of the longest line that is read."""

# The smallest buffer of a pipe on any of the systems is 4096 bytes; `stop` needs room beside.
PIPE_BYTES = 4000

_CHUNK_BYTES = 65536

_CHUNKS_AHEAD = 16

_TAIL_BYTES = 16384

_TAIL_LINES = 20

# The least that a process may take to exit once its output has ended, or to react to being ended.
_EXIT_SECONDS = 1.0

_TERMINATE_SECONDS = 0.5

_LOOK_SECONDS = 0.1

_SHOWS_STACKS = {"PYTHONFAULTHANDLER": "1"}
"""Lets Python write the stacks of its threads when it is aborted; others do not know it."""


class AdapterProcess:
    """A running adapter: its process tree, its pipes and the reader threads."""

    def __init__(
        self,
        command: Sequence[str],
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the command; ``environment`` is added to this process's own.

        Raises:
            Fault: the command cannot be started.
        """
        try:
            self._process = _start(
                list(command),
                working_folder,
                {**_SHOWS_STACKS, **os.environ, **(environment or {})},
            )
        except (OSError, ValueError) as error:
            raise Fault(
                FailureKind.NOT_STARTED,
                f"'{command[0]}' cannot be started ({error}); "
                "check the command and the folder that it is started in",
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._finish = weakref.finalize(self, _finish, self._process)
        self._input = self._process.stdin
        self._chunks = _Chunks()
        self._error_tail = _Tail()
        # No thread refers to this object, so that it is ended when the last user forgets it.
        self._output_reader = _thread(self._chunks.read, self._process.stdout)
        self._error_reader = _thread(self._error_tail.read, self._process.stderr)
        self._writers: list[threading.Thread] = []
        self._lines: deque[bytes] = deque()
        self._unfinished = b""
        self._output_ended = False
        self._input_broken = False
        self._input_stuck = False

    @property
    def process_id(self) -> int:
        """Return the number by which the system knows the process."""
        return self._process.pid

    @property
    def standard_error(self) -> str:
        """Return the last lines that the process wrote to standard error."""
        return self._error_tail.text

    def write(self, lines: bytes, seconds: float) -> None:
        """Write requests; returns though the process does not read, see ``read_line``.

        Args:
            lines: at most what the pipe can hold at present, or else one single request.
            seconds: how long a large request may take to be read.
        """
        if self._input_stuck:
            return
        if len(lines) <= PIPE_BYTES:
            self._write(lines)
            return
        self._input_stuck = True
        writer = _thread(self._write, lines)
        self._writers.append(writer)
        writer.join(seconds)
        self._input_stuck = writer.is_alive()

    def _write(self, lines: bytes) -> None:
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[self._input.write(rest) :]
        except (OSError, ValueError):
            self._input_broken = True

    def close_input(self) -> None:
        """Let the process see the end of its standard input."""
        if not any(writer.is_alive() for writer in self._writers):
            with contextlib.suppress(OSError):
                self._input.close()

    def read_line(self, seconds: float) -> bytes:
        """Return the next line without its newline.

        Raises:
            Fault: no line came within the time, or none will come.
        """
        if not self._lines:
            self._fill(time.monotonic() + seconds, seconds)
        line = self._lines.popleft()
        if len(line) > LONGEST_LINE:
            raise self._too_long(line)
        return line

    def line_at_hand(self) -> bytes | None:
        """Return a line that has been written already, or None; never waits."""
        while not self._lines and not self._output_ended:
            try:
                self._take(self._chunks.take(0.0))
            except queue.Empty:
                break
        return self._lines.popleft() if self._lines else None

    def _fill(self, deadline: float, seconds: float) -> None:
        """Take chunks until there is a line."""
        if self._input_stuck:
            deadline = time.monotonic()
        elif self._input_broken:
            # No reply can follow but those to what was read before.
            deadline = min(deadline, time.monotonic() + _EXIT_SECONDS)
        while not self._lines:
            if self._output_ended:
                raise self._ended(deadline)
            left = deadline - time.monotonic()
            try:
                self._take(self._chunks.take(max(0.0, min(left, _LOOK_SECONDS))))
            except queue.Empty:
                if self._process.poll() is not None:
                    # What it wrote before it exited may still be on its way; another process that
                    # holds the pipe must not keep us waiting for more.
                    self._take_rest()
                elif left <= 0:
                    raise self._silent(seconds) from None

    def _take_rest(self) -> None:
        self._output_reader.join(_EXIT_SECONDS)
        try:
            while not self._output_ended:
                self._take(self._chunks.take(0.0))
        except queue.Empty:
            self._output_ended = True

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self._output_ended = True
            return
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        self._lines.extend(lines)
        if len(self._unfinished) > LONGEST_LINE:
            raise self._too_long(self._unfinished)

    def _too_long(self, line: bytes) -> Fault:
        return Fault(
            FailureKind.TOO_LONG,
            f"a line has more than {LONGEST_LINE} bytes; end each reply with a newline",
            line,
        )

    def _silent(self, seconds: float) -> Fault:
        if self._input_broken:
            return Fault(
                FailureKind.CLOSED_PIPE,
                "it closed its standard input and still runs; read requests until 'stop'",
                self._unfinished,
            )
        came = "an unfinished line" if self._unfinished else "no reply"
        return Fault(
            FailureKind.HUNG,
            f"{came} within {seconds:g} s; answer each request by one line and flush it, "
            "or allow more time",
            self._unfinished,
        )

    def _ended(self, deadline: float) -> Fault:
        """Return the fault of an ended output; the process may exit until the deadline."""
        try:
            code = self._process.wait(max(_EXIT_SECONDS, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return Fault(
                FailureKind.CLOSED_PIPE,
                "it closed its standard output and still runs; keep it open until 'stop'",
                self._unfinished,
            )
        advice = (
            "go on reading requests until 'stop' or the end of standard input"
            if code == 0
            else "its standard error may say why; answer a failure of the adapter with 'error'"
        )
        problem = f"it {_exit_text(code)} instead of answering; {advice}"
        return Fault(FailureKind.CRASHED, problem, self._unfinished)

    def exit_code(self, seconds: float) -> int | None:
        """Return the exit code, or None where the process still runs after so many seconds.

        Further output of the process is thrown away.
        """
        self._chunks.discard()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def abort(self) -> None:
        """End the process by SIGABRT, at which Python and Go write the stacks of their threads.

        Windows has no such signal, and there the process is left as it is.
        """
        if sys.platform != "win32" and self._process.poll() is None:
            _signal_group(self._process.pid, signal.SIGABRT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_TERMINATE_SECONDS)
            self._error_reader.join(_TERMINATE_SECONDS)

    def end(self) -> None:
        """End the process tree and the threads."""
        self._chunks.discard()
        self._finish()
        deadline = time.monotonic() + _EXIT_SECONDS
        # A process that left the tree on purpose may still hold a pipe: do not wait for it.
        for thread in (self._output_reader, self._error_reader, *self._writers):
            thread.join(max(0.0, deadline - time.monotonic()))


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, name="adapter pipe", daemon=True)
    thread.start()
    return thread


class _Chunks:
    """The chunks of a stream, read a few ahead; the last chunk is empty."""

    def __init__(self) -> None:
        self._read: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._permits: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._discarding = False
        for _ in range(_CHUNKS_AHEAD):
            self._permits.put(None)

    def read(self, stream: IO[bytes]) -> None:
        """Read until the end; waits where nobody takes the chunks."""
        with stream, contextlib.suppress(OSError):
            while chunk := stream.read(_CHUNK_BYTES):
                if not self._discarding:
                    self._permits.get()
                    self._read.put(chunk)
        self._read.put(b"")

    def take(self, seconds: float) -> bytes:
        """Return the next chunk; raises ``queue.Empty`` if none comes within so many seconds."""
        chunk = self._read.get(timeout=seconds)
        self._permits.put(None)
        return chunk

    def discard(self) -> None:
        """Throw away what comes from now on, so that the reader sees the end of the stream."""
        self._discarding = True
        self._permits.put(None)  # for a reader that waits already


class _Tail:
    """The end of what a stream brings."""

    def __init__(self) -> None:
        self._kept = b""

    def read(self, stream: IO[bytes]) -> None:
        """Read until the end and keep the last part."""
        with stream, contextlib.suppress(OSError):
            while chunk := stream.read(_CHUNK_BYTES):
                self._kept = (self._kept + chunk)[-_TAIL_BYTES:]

    @property
    def text(self) -> str:
        """Return the last lines of standard error."""
        lines = self._kept.decode(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])


def _finish(process: subprocess.Popen[bytes]) -> None:
    """End a process tree and close its stdin; the readers close the other pipes."""
    _end_tree(process)
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


if sys.platform == "win32":

    def _start(
        command: list[str], folder: Path | None, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        """End the process and its children, found through the process while it runs."""
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
        command: list[str], folder: Path | None, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        """End the process and its group: gently, then for certain.

        The group is signalled also where the process itself has exited: others may be left in it.
        """
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_TERMINATE_SECONDS)
        _signal_group(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_EXIT_SECONDS)

    def _signal_group(group: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
