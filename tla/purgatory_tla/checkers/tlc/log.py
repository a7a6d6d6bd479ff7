"""TLC's output in its ``-tool`` form, message by message, as it comes.

Every message stands between ``STARTMSG code:class`` and ``ENDMSG code``. Messages nest: an
exception may hold another one. What stands in no message comes from the parser (SANY) or is
printed by the specification. Of both the log keeps the first and the last part, so that a run that
prints for hours does not fill the memory.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_START = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@")
_END = re.compile(r"@!@!@ENDMSG (\d+) @!@!@\s*$")
_PROGRESS = re.compile(
    r"Progress\((?P<depth>-?[\d,]+)\)[^:]*:[^:]*:[^:]*: (?P<generated>[\d,]+) states? generated"
    r"(?:.*?, (?P<distinct>-?[\d,]+) distinct states? found)?"
    r"(?:.*?, (?P<queue>-?[\d,]+) states? left)?"
)

ERROR = 1
DEFECT = 2
PROGRESS_CODES = frozenset({2200, 2209, 2206})


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: states generated, distinct ones, those still to be expanded.

    ``seconds`` have passed since the run began. What the tool does not say is None.
    """

    generated: int
    distinct: int | None
    queue: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Message:
    """A message; ``kind`` is 0 information, 1 error, 2 TLC's own defect, 3 warning, 4 state."""

    code: int
    kind: int
    text: str


class BoundedText:
    """The first and the last lines of a text that may be very long."""

    def __init__(self, characters: int = 8 * 2**20) -> None:
        """Keep at most about twice as many characters."""
        self._limit = characters
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, line: str) -> None:
        """Add a line to the text."""
        if self._head_size < self._limit:
            self._head.append(line)
            self._head_size += len(line) + 1
            return
        self._tail.append(line)
        self._tail_size += len(line) + 1
        while self._tail_size > self._limit and len(self._tail) > 1:
            self._tail_size -= len(self._tail.popleft()) + 1
            self._dropped += 1

    def __str__(self) -> str:
        gap = [f"[{self._dropped} lines left out]"] if self._dropped else []
        return "\n".join([*self._head, *gap, *self._tail])


class TlcLog:
    """Takes lines and holds the messages in the order in which they ended."""

    def __init__(self, on_progress: Callable[[Message], None] | None = None) -> None:
        """Make a log that calls ``on_progress`` with each progress message."""
        self.messages: list[Message] = []
        self.raw = BoundedText()
        self.outside = BoundedText(2**18)
        self._on_progress = on_progress
        self._open: list[tuple[int, int, list[str]]] = []

    @property
    def is_complete(self) -> bool:
        """Decide whether every message is finished."""
        return not self._open

    def add(self, line: str) -> None:
        """Take the next line of output."""
        self.raw.add(line)
        position = 0
        while (start := _START.search(line, position)) is not None:
            self._text(line[position : start.start()])
            self._open.append((int(start[1]), int(start[2]), []))
            position = start.end()
        rest = line[position:]
        end = _END.search(rest)
        if end is None:
            if rest or not position:
                self._text(rest)
            return
        self._text(rest[: end.start()])
        self._close(int(end[1]))

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1][2].append(text)
        elif text:
            self.outside.add(text)

    def _close(self, code: int) -> None:
        while self._open:
            opened, kind, lines = self._open.pop()
            if self._open:
                # What an error quotes is part of the error, whatever its own class.
                kind = kind or self._open[-1][1]
            message = Message(opened, kind, "\n".join(lines).strip("\n"))
            if opened in PROGRESS_CODES:
                self._report(message)
            else:
                self.messages.append(message)
            if opened == code:
                return

    def _report(self, message: Message) -> None:
        # The last one is enough: there may be thousands.
        if self.messages and self.messages[-1].code in PROGRESS_CODES:
            self.messages.pop()
        self.messages.append(message)
        if self._on_progress is not None:
            self._on_progress(message)


def parse_progress(text: str, seconds: float) -> Progress | None:
    """Return the counts in a progress line, None where it has another form."""
    match = _PROGRESS.search(text)
    if match is None:
        return None
    return Progress(
        generated=int(match["generated"].replace(",", "")),
        distinct=_count(match["distinct"]),
        queue=_count(match["queue"]),
        seconds=seconds,
    )


def parse_depth(text: str) -> int | None:
    """Return the depth in a progress line; None without one (TLC writes -1 in a simulation)."""
    match = _PROGRESS.search(text)
    return None if match is None else _count(match["depth"])


def _count(text: str | None) -> int | None:
    """Return a number with commas; TLC writes -1 for an unknown one."""
    number = -1 if text is None else int(text.replace(",", ""))
    return None if number < 0 else number
