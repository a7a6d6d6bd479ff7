"""Writes the lines of one run to files, in a thread of its own.

Theory of operation. Whoever records takes the next number, makes the line and puts it into a
buffer; none of these takes a lock, since taking from a counter and appending to a deque are each
one step of the interpreter. A background thread encodes what is in the buffer and writes it. So
the cost of a line in the recorded thread is that of making a small object, and nobody waits for a
disk, until the buffer is full: then whoever begins a call waits, before the call begins.

Nothing is lost silently. Where writing fails the writer throws away what is recorded from then on,
so that nobody waits, and ``close`` raises. The run has then no ``end`` line, as has a run whose
program ended without a ``close``: both are judged ``incomplete``.

A file that is closed as it should be, and is not compressed, gets its SHA-256 beside it: compressed
ones carry their own checksums.

Numbers are given out without gaps and each has one line, so the number of lines written so far is
the number of the next one: by that the background thread finds where a further file begins.
"""

import gzip
import hashlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final, Protocol

import msgspec

from purgatory_traces.traces.byte_streams import CHECKSUM, checksum_line

MOST_BUFFERED: Final = 65_536
"""The most lines that may wait to be written, by default."""

_LINES_AT_ONCE: Final = 4096
_POLL_SECONDS: Final = 0.005
_GZIP_LEVEL: Final = 1


class NumberedLine(Protocol):
    """A line of a trace, whatever its kind."""

    @property
    def seq(self) -> int:
        """Return the number of the present line in the run."""


class TraceNotWritten(Exception):
    """The trace could not be written to its end; the cause is the error that writing met."""


class TraceWriter:
    """Numbers lines and writes them; all methods may be called from any thread."""

    def __init__(
        self,
        path: Path,
        *,
        most_buffered: int = MOST_BUFFERED,
        after_batch: Callable[["TraceWriter"], None] | None = None,
    ) -> None:
        """Create the file and start the thread that writes.

        Args:
            path: The file, which must not exist; compressed where its name ends in ``.gz``.
                Further files of the run stand beside it, see ``next_file``.
            most_buffered: How many lines may wait to be written; then ``wait_for_room`` waits.
            after_batch: Called by the writing thread whenever it has written something.

        Raises:
            OSError: the file cannot be created.
        """
        self._path = path
        self._most_buffered = most_buffered
        self._after_batch = after_batch
        self._lines: deque[NumberedLine] = deque()
        self._border: int | None = None
        self._encoder = msgspec.json.Encoder()
        self._file: IO[bytes] = _created(path)
        self._digest = hashlib.sha256()
        self._files = 1
        self._failure: Exception | None = None
        self._last: int | None = None
        self._closing = threading.Event()
        self._room = threading.Condition()
        self._lines_before = 0
        self._bytes_before = 0
        self.lines_in_file = 0
        self.bytes_in_file = 0
        self.next_seq: Callable[[], int] = itertools.count().__next__
        self.put: Callable[[NumberedLine], None] = self._lines.append
        self._thread = threading.Thread(target=self._work, name="trace-writer", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """Return the run's first file."""
        return self._path

    @property
    def lines_written(self) -> int:
        """Return the number of lines written, in all files."""
        return self._lines_before + self.lines_in_file

    @property
    def lines(self) -> int:
        """Return the number of lines written or waiting, without those being written just now."""
        return self.lines_written + len(self._lines)

    @property
    def bytes_written(self) -> int:
        """Return the number of bytes written, in all files, before compression."""
        return self._bytes_before + self.bytes_in_file

    @property
    def files(self) -> list[Path]:
        """Return the files of the run so far."""
        further = range(2, self._files + 1)
        return [self._path, *(further_file(self._path, number) for number in further)]

    @property
    def awaits_next_file(self) -> bool:
        """Decide whether a further file is to begin with a line that is not written yet."""
        return self._border is not None

    @property
    def is_full(self) -> bool:
        """Decide whether the buffer has no room."""
        return len(self._lines) >= self._most_buffered

    def wait_for_room(self) -> None:
        """Wait until the buffer has room, or writing has failed."""
        if threading.current_thread() is self._thread:
            return
        with self._room:
            while self.is_full and self._failure is None and self._thread.is_alive():
                self._room.wait(0.1)

    def next_file(self, seq: int) -> None:
        """Let a further file begin with the line of this number, which is not written yet."""
        self._border = seq

    def close(self, last: int) -> None:
        """Write what is in the buffer and close the file; may be called again.

        Args:
            last: The number of the run's last line; what comes behind it is not written.

        Raises:
            TraceNotWritten: something could not be written.
        """
        self._last = last
        self._closing.set()
        self._thread.join()
        if self._failure is not None:
            raise TraceNotWritten(f"{self._path}: {self._failure}") from self._failure

    def _work(self) -> None:
        """Write lines until the writer is closed or fails."""
        try:
            with self._file_of_run():
                self._write_until_closed()
        except Exception as failure:
            self._failure = failure
            while not self._closing.is_set():
                self._lines.clear()
                self._tell_of_room()
                time.sleep(_POLL_SECONDS)
            self._lines.clear()

    def _write_until_closed(self) -> None:
        while not self._closing.wait(_POLL_SECONDS):
            while self._lines and not self._closing.is_set():
                self._write_some()
                if self._after_batch is not None:
                    self._after_batch(self)
        while self._lines:
            self._write_some()

    @contextmanager
    def _file_of_run(self) -> Iterator[None]:
        """Close the file that is open in the end, whatever happens."""
        try:
            yield
        except BaseException:
            with suppress(OSError):
                self._file.close()
            raise
        self._close_file()

    def _write_some(self) -> None:
        lines = self._lines
        number = min(len(lines), _LINES_AT_ONCE)
        if self._border is not None:
            left = self._border - self.lines_written
            if left == 0:
                self._begin_next_file()
            else:
                number = min(number, left)
        batch = [lines.popleft() for _ in range(number)]
        self._tell_of_room()
        if self._last is not None:
            batch = [line for line in batch if line.seq <= self._last]
        encoded = self._encoder.encode_lines(batch)
        self._file.write(encoded)
        self._digest.update(encoded)
        self.lines_in_file += len(batch)
        self.bytes_in_file += len(encoded)

    def _close_file(self) -> None:
        self._file.close()
        path = self.files[-1]
        if not path.name.endswith(".gz"):
            line = checksum_line(path.name, self._digest.hexdigest())
            path.with_name(path.name + CHECKSUM).write_text(line, encoding="utf-8")
        self._digest = hashlib.sha256()

    def _begin_next_file(self) -> None:
        self._close_file()
        self._border = None
        self._lines_before += self.lines_in_file
        self._bytes_before += self.bytes_in_file
        self.lines_in_file = self.bytes_in_file = 0
        self._files += 1
        self._file = _created(further_file(self._path, self._files))

    def _tell_of_room(self) -> None:
        with self._room:
            self._room.notify_all()


def further_file(path: Path, number: int) -> Path:
    """Return the name of a run's further file: ``trace.jsonl.gz``, ``trace-2.jsonl.gz``."""
    name, dot, endings = path.name.partition(".")
    return path.with_name(f"{name}-{number}{dot}{endings}")


def _created(path: Path) -> IO[bytes]:
    if path.name.endswith(".gz"):
        # Its own buffer is small; whole batches are written.
        return gzip.open(path, "xb", compresslevel=_GZIP_LEVEL)  # type: ignore[return-value]
    return path.open("xb")
