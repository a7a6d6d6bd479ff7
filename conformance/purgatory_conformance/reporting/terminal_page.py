"""Lines that fit a terminal, whatever it can show."""

from rich.console import Console
from rich.text import Text

_IN_ASCII = str.maketrans(
    {"✓": "+", "✗": "x", "≠": "~", "…": "...", "→": "->", "←": "<-", "·": "-", "─": "-", "│": "|"}
)

Part = str | tuple[str, str]
"""A piece of a line: words, or words with a style."""


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

    def cropped(self, *parts: Part, indent: int = 0) -> None:
        """Print a line, cut off after a word where it is too long."""
        text = self._text(parts)
        room = self.width - indent
        if text.cell_len > room:
            text.truncate(room - 3)
            text = text[: text.plain.rfind(" ") + 1]
            text.append("..." if self._ascii else "…")
        self._put(text, indent)

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
