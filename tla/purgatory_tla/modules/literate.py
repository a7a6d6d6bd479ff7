"""A TLA+ module as readers see it: the definitions, each with the commentary above.

``module_text`` knows what a checker needs of any module; this knows the layout that the modules of
this project keep: a definition begins at the first column, and the comment that belongs to it
stands directly above it. Comment lines that begin with ``@`` are annotations (``@type``,
``@says``), the others are words.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DEFINITION = re.compile(r"^(?P<name>[A-Za-z]\w*)(?:\((?P<parameters>[^)]*)\))?\s*==(?!=)")
_RULER = re.compile(r"^(?:-{4,}|={4,})")
_MODULE = re.compile(r"^-{4,}\s*MODULE\s+(?P<name>\w+)\s*-{4,}\s*$")
_EXTENDS = re.compile(r"^EXTENDS\s+(?P<names>.+)$")
_ANNOTATION = re.compile(r"^@(?P<kind>\w+)\s*(?P<text>.*)$", re.DOTALL)
_RULE = re.compile(r"\b(?:TIMER|PURGATORY|POOL|MUTING)(?:-[A-Z]+)+\b")


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: name, commentary, annotations by kind, and the source without comments.

    ``line`` is where the definition itself begins, ``first_line`` where its comment does, both
    counted from 1.
    """

    name: str
    parameters: tuple[str, ...]
    words: str
    annotations: tuple[tuple[str, str], ...]
    source: str
    line: int
    first_line: int

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the ids of the rules named in the commentary, in their order."""
        return tuple(dict.fromkeys(_RULE.findall(self.words)))

    def annotation(self, kind: str) -> str | None:
        """Return the text behind ``@kind``; None without such an annotation."""
        return next((text for name, text in self.annotations if name == kind), None)


@dataclass(frozen=True, slots=True)
class LiterateModule:
    """A module: name, extended modules, commentary of the header, and definitions."""

    name: str
    path: Path
    extends: tuple[str, ...]
    header: str
    definitions: tuple[Definition, ...]

    def definition(self, name: str) -> Definition:
        """Return the definition of that name.

        Raises:
            KeyError: There is none.
        """
        for each in self.definitions:
            if each.name == name:
                return each
        raise KeyError(name)


class InvalidModule(Exception):
    """The text is not a module in the layout that this reader knows."""


def read_literate(path: Path) -> LiterateModule:
    """Read a module into its parts.

    Raises:
        InvalidModule: The file has no module line.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = next((match for line in lines if (match := _MODULE.match(line))), None)
    if heading is None:
        raise InvalidModule(f"{path}: no line of the form ---- MODULE Name ----")
    extends = next((match["names"] for line in lines if (match := _EXTENDS.match(line))), "")
    return LiterateModule(
        heading["name"],
        path,
        tuple(name.strip() for name in extends.split(",") if name.strip()),
        _header(lines),
        tuple(_definitions(lines)),
    )


def _header(lines: list[str]) -> str:
    """Return the comment between the module line and the first line that is not a comment."""
    start = next(number for number, line in enumerate(lines) if _MODULE.match(line)) + 1
    end = start
    depth = 0
    while end < len(lines):
        line = lines[end]
        if depth == 0 and line.strip() and not line.lstrip().startswith(("(*", "\\*")):
            break
        depth += line.count("(*") - line.count("*)")
        end += 1
    return _words(lines[start:end])


def _definitions(lines: list[str]) -> Iterator[Definition]:
    starts = [number for number, line in enumerate(lines) if _DEFINITION.match(line)]
    for number in starts:
        match = _DEFINITION.match(lines[number])
        assert match is not None
        end = _end_of(lines, number)
        start = _start_of_comment(lines, number)
        annotations, words = _split(lines[start:number])
        parameters = match["parameters"] or ""
        yield Definition(
            match["name"],
            tuple(each.strip() for each in parameters.split(",") if each.strip()),
            words,
            annotations,
            "\n".join(lines[number:end]).rstrip(),
            number + 1,
            start + 1,
        )


def _end_of(lines: list[str], start: int) -> int:
    """Return the first line after a definition: at the first column, outside of comments."""
    end = start + 1
    while end < len(lines):
        line = lines[end]
        outside = line[:1] not in ("", " ", "\t", "/", "\\") or line.startswith("\\*")
        if outside or _RULER.match(line):
            break
        end += 1
    return end


def _start_of_comment(lines: list[str], number: int) -> int:
    start = number
    while start > 0:
        line = lines[start - 1].rstrip()
        if line.startswith("\\*"):
            start -= 1
        elif line.endswith("*)"):
            start = _opening(lines, start - 1)
        else:
            break
    return start


def _opening(lines: list[str], closing: int) -> int:
    while closing > 0 and "(*" not in lines[closing]:
        closing -= 1
    return closing


def _split(comment: list[str]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return annotations and words of a comment; an annotation may extend to its semicolon."""
    annotations: list[tuple[str, str]] = []
    words: list[str] = []
    open_type = False
    for line in comment:
        text = line.removeprefix("\\*").strip()
        match = _ANNOTATION.match(text)
        if line.startswith("\\*") and match is not None:
            annotations.append((match["kind"], match["text"].strip()))
            open_type = match["kind"].startswith("type") and not text.rstrip().endswith(";")
        elif open_type:
            kind, begun = annotations[-1]
            annotations[-1] = (kind, f"{begun} {text}")
            open_type = not text.endswith(";")
        else:
            words.append(line)
    return tuple(annotations), _words(words)


def _words(lines: list[str]) -> str:
    """Return the text of comment lines, without comment marks; empty lines part paragraphs."""
    return textwrap.dedent("\n".join(_unmarked(line) for line in lines)).strip("\n")


def _unmarked(line: str) -> str:
    text = line.removeprefix("\\*").removeprefix("(*").rstrip()
    text = text.removesuffix("*)").removesuffix("(*").rstrip()
    return "" if set(text) <= set("*-= ") else text
