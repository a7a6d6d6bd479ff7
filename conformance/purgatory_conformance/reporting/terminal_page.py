"""Lines that fit a terminal, whatever it can show; a pipe gets lines that are whole."""

import os
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_UNBOUNDED = 100_000
_WIDEST_RULE = 80

_IN_ASCII = str.maketrans(
    {"✓": "+", "✗": "x", "≠": "~", "…": "...", "→": "->", "←": "<-", "·": "-", "─": "-", "│": "|"}
)

Part = str | tuple[str, str]
"""A piece of a line: words, or words with a style."""


def standard_output() -> Console:
    """Return the console for standard output.

    In a pipe nothing is wrapped and nothing is padded, since programs read it, unless ``COLUMNS``
    asks for the layout of a terminal.
    """
    console = Console(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(highlight=False, width=_UNBOUNDED)


def is_aligned(console: Console) -> bool:
    """Decide whether columns are padded: for people, and not for what reads a pipe."""
    return console.width < _UNBOUNDED


def print_columns(console: Console, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their headers, in columns; in a pipe with two spaces between cells."""
    if not is_aligned(console):
        for row in (headers, *rows):
            words = "  ".join(" ".join(cell.split()) for cell in row).strip()
            console.print(Text(words), no_wrap=True, overflow="ignore", crop=False)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def print_indented(console: Console, words: str, places: int) -> None:
    """Print words behind an indent, which the lines that they are wrapped to keep."""
    if is_aligned(console):
        console.print(Padding(Text(words), (0, 0, 0, places), expand=False))
    else:
        console.print(Text(" " * places + words), no_wrap=True, overflow="ignore", crop=False)


def line_of(console: Console, cells: Sequence[str], columns: Sequence[str]) -> str:
    """Return cells as one line; for people each has the width and the side of its column.

    ``columns`` are format specifications such as ``<20`` and ``>9``.
    """
    if is_aligned(console):
        cells = [format(cell, column) for cell, column in zip(cells, columns, strict=True)]
    return "  ".join(cells).rstrip()


class TerminalPage:
    """Prints lines that fit the console, without colours or symbols that it cannot show."""

    def __init__(self, console: Console) -> None:
        """Print to a console, with the colours and characters it supports."""
        self._console = console
        # NO_COLOR asks for plain text; rich would still make it bold.
        self._styled = not console.no_color
        self._ascii = console.options.ascii_only

    @property
    def width(self) -> int:
        """Return the number of letters that a line may have."""
        return max(self._console.width, 40)

    @property
    def aligned(self) -> bool:
        """Decide whether columns are padded."""
        return is_aligned(self._console)

    def ruled(self, head: str, style: str) -> None:
        """Print a heading with a line behind it, to the edge of the terminal."""
        edge = min(self.width, _WIDEST_RULE) if not self.aligned else self.width
        self.say((f"{head} " + "─" * (edge - len(head) - 1), style))

    def say(self, *parts: Part, indent: int = 0, hang: int | None = None) -> None:
        """Print a line, wrapped if too long; ``hang`` indents the continuation lines."""
        hang = indent if hang is None else hang
        text = self._text(parts)
        head, *others = self._wrapped(text, indent)
        self._put(head, indent)
        if others:
            rest = text[len(head) :]
            for line in self._wrapped(rest[len(rest) - len(rest.plain.lstrip()) :], hang):
                self._put(line, hang)

    def labelled(self, label: str, *parts: Part, width: int, indent: int = 0) -> None:
        """Print a label and words beside it, which stand below each other where columns do."""
        begin = f"{label:<{width}}" if self.aligned else f"{label}  " if label else ""
        self.say(begin, *parts, indent=indent, hang=indent + width)

    def verbatim(self, words: str, style: str = "", indent: int = 0) -> None:
        """Print a line as it is, however long: it is there to be copied."""
        self._put(self._text([(words, style)]), indent)

    def gap(self) -> None:
        """Print an empty line."""
        self._console.print()

    def _wrapped(self, text: Text, indent: int) -> list[Text]:
        return [*text.wrap(self._console, self.width - indent, overflow="fold")] or [text]

    def _put(self, text: Text, indent: int) -> None:
        text.rstrip()
        line = Text(" " * indent if text.plain else "")
        line.append_text(text)
        self._console.print(line, no_wrap=True, overflow="ignore", crop=False)

    def _text(self, parts: "tuple[Part, ...] | list[tuple[str, str]]") -> Text:
        text = Text()
        for part in parts:
            words, style = (part, "") if isinstance(part, str) else part
            if self._ascii:
                words = words.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode()
            text.append(words, style if self._styled else "")
        return text
