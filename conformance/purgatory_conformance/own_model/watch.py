"""A watch over calls of foreign code: the question asked, and an end to calls without an answer."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

DONE = "done"
"""The content of the file that shows a live process, once the process has ended by itself."""

_LOOKS_EVERY_SECONDS = 0.2


class Watching(Protocol):
    """An observer of the questions asked of foreign code."""

    def asking(self, what: Callable[[], str]) -> AbstractContextManager[None]:
        """Return a context for a call of the foreign code; ``what`` gives the question in words."""


class Watch:
    """Knows what is being asked, and since when; ends the process where an answer takes too long.

    A thread looks every now and then, and touches a file to show that it does. It can end whatever
    runs Python code; what holds the interpreter without running any keeps the thread from looking,
    which whoever started the process sees by the file.
    """

    def __init__(
        self, file: Path, seconds: float, exit_code: int, alive: Path | None = None
    ) -> None:
        """Watch code of this file; no answer may take longer than ``seconds``."""
        self._alive = alive
        self._file = file
        self._seconds = seconds
        self._exit_code = exit_code
        self._asked: Callable[[], str] | None = None
        self._since = 0.0
        if alive is not None:
            alive.touch()
        self._main = threading.get_ident()
        threading.Thread(target=self._look, daemon=True).start()

    @contextmanager
    def asking(self, what: Callable[[], str]) -> Iterator[None]:
        """Watch one call of the foreign code; see ``Watching``."""
        self._since = time.monotonic()
        self._asked = what
        try:
            yield
        finally:
            self._asked = None

    def _look(self) -> None:
        while True:
            time.sleep(_LOOKS_EVERY_SECONDS)
            if self._alive is not None:
                self._alive.touch()
            what = self._asked
            if what is not None and time.monotonic() - self._since > self._seconds:
                self._end(what())

    def _end(self, what: str) -> None:
        """Say what takes so long, and where it is, and end the process without more ado."""
        frame = sys._current_frames().get(self._main)
        stack = traceback.extract_stack(frame) if frame is not None else []
        lines = [each.lineno for each in stack if Path(each.filename) == self._file.resolve()]
        where = f" It is in line {lines[-1]}." if lines else ""
        words = f"{what} has not come to an end after {self._seconds:g} seconds.{where}"
        print(f"purgatory: {self._file}: {words}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        if self._alive is not None:
            self._alive.write_text(DONE, encoding="utf-8")
        os._exit(self._exit_code)
