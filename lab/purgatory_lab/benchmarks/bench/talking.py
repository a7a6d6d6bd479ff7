"""A peer's process: started, greeted, asked, ended. Every answer has a time limit."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from purgatory_lab.benchmarks.bench.results import Figure, Measurement, Request
from purgatory_lab.benchmarks.python_peer.messages import Hello

_Kind = TypeVar("_Kind")

_LONGEST_LINE: Final = 1 << 20
_NOT_PASSED_ON: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONWARNINGS")
"""The variables that would let a peer import other code than the code it is meant to measure."""

_END_SECONDS: Final = 5.0
_STEP_SECONDS: Final = 0.02


class Declined(Exception):
    """The peer has declined the request with a reason, and stays ready for the next."""


class Broken(Exception):
    """The peer is of no use any more, and was ended: it hung, died, or wrote something else."""


class Watcher(Protocol):
    """Looks at a process while it is waited for."""

    def look(self, process: int) -> str:
        """Return the reason why the process has to be ended now; empty where it may go on."""


@dataclass(frozen=True)
class Start:
    """The way in which a peer is started.

    Attributes:
        command: The program and its words.
        folder: The working folder of the process.
        log: The file that takes the peer's standard error.
        environment: Variables added to the environment of this process.
    """

    command: Sequence[str | Path]
    folder: Path
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)


class PeerProcess:
    """A peer that was started.

    Attributes:
        hello: The peer's first line.
    """

    hello: Hello

    def __init__(self, start: Start, patience_s: float) -> None:
        """Start the process and wait for the peer's hello.

        Raises:
            Broken: there is none in time, or it is no hello.
        """
        self._log = start.log
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._process = _started(start)
        self._reader = threading.Thread(target=self._read, name="lines of a peer", daemon=True)
        self._reader.start()
        self.hello = self._decoded(self._line(patience_s, None), Hello, "no hello")

    @property
    def process(self) -> int:
        """Return the id of the peer's process."""
        return self._process.pid

    def ask(
        self, request: Request, patience_s: float, watcher: Watcher | None = None
    ) -> Measurement:
        """Ask one request of the peer.

        Args:
            request: The line.
            patience_s: How long the answer may take, s.
            watcher: Looks at the process meanwhile.

        Raises:
            Declined: the peer cannot.
            Broken: there is no answer; the peer was ended.
        """
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # its end of the pipe is closed, or ours was
            raise self._broken(self._death()) from None
        said = self._decoded(self._line(patience_s, watcher), _Said, "no answer")
        if said.error is not None:
            raise Declined(said.error)
        answer = said.answer()
        if answer is None:
            raise self._broken("its answer lacks the number of operations")
        return answer

    def close(self) -> None:
        """End it: by the end of its input, and by force if that does not do."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            while line := output.readline(_LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(b"")

    def _line(self, patience_s: float, watcher: Watcher | None) -> bytes:
        """Return the next line of the peer's output.

        Raises:
            Broken: none has come in time, the output has ended, or the watcher has had enough.
        """
        last = time.monotonic() + patience_s
        while True:
            left = last - time.monotonic()
            try:
                line = self._lines.get(
                    timeout=max(left, 0.0) if watcher is None else min(_STEP_SECONDS, max(left, 0))
                )
            except queue.Empty:
                if left <= 0:
                    raise self._broken(f"no answer within {patience_s:.0f} s; ended") from None
                line = None
            if watcher is not None and (why := watcher.look(self.process)):
                raise self._broken(why)
            if line is not None:
                if not line:
                    raise self._broken(self._death())
                return line

    def _decoded(self, line: bytes, kind: type[_Kind], otherwise: str) -> _Kind:
        try:
            return msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError as problem:
            shown = line[:80].decode(errors="replace").rstrip()
            raise self._broken(f"{otherwise}, but {shown!r} ({problem}); ended") from None

    def _death(self) -> str:
        """Return the reason why there will be no further line."""
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its output; ended"
        how = f"ended with {code}" if code >= 0 else f"killed by signal {-code}"
        return f"{how} without an answer{self._last_words()}"

    def _last_words(self) -> str:
        """Return the last line of the peer's standard error."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
            if said := [line.strip() for line in lines if line.strip()]:
                return f": {said[-1][:200]}"
        return ""

    def _broken(self, why: str) -> Broken:
        self._kill()
        return Broken(why)

    def _kill(self) -> None:
        """Kill the process with its process group, and wait until the process has ended."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait()
        self._reader.join(_END_SECONDS)


class _Said(msgspec.Struct):
    """An answer or an error, whichever the line has."""

    error: str | None = None
    operations: int | None = None
    thread_cpu_ns: float | None = None
    process_cpu_ns: float | None = None
    wall_ns: float | None = None
    detail: dict[str, Figure] = {}

    def answer(self) -> Measurement | None:
        if self.operations is None or self.operations < 1:
            return None
        return Measurement(
            self.operations, self.thread_cpu_ns, self.process_cpu_ns, self.wall_ns, self.detail
        )


def _started(start: Start) -> "subprocess.Popen[bytes]":
    """Return the process, as the first of a group of its own.

    Raises:
        Broken: it cannot be started.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    try:
        with start.log.open("wb") as log:
            return subprocess.Popen(
                start.command,
                cwd=start.folder,
                env={**inherited, **start.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
    except OSError as problem:
        raise Broken(f"it cannot be started: {problem.strerror}") from problem
