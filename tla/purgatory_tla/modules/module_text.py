"""The structure of a module's text: extended modules, declarations and definitions, with lines.

This is no parser of TLA+ (the checkers are): it reads words, and leaves comments out but for the
type annotations in them. That is enough to know the declared constants and variables with their
types, and on which lines a definition stands.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from purgatory_spec.named_files import named_file
from purgatory_tla.errors import InvalidSpecification, ParseFailure
from purgatory_tla.values.type_annotations import Annotations, Type, parse_type


@dataclass(frozen=True, slots=True)
class Definition:
    """An operator: its module and its first and last line, counted from 1."""

    name: str
    module: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module together with the modules of the same folder that it extends."""

    name: str
    path: Path
    constants: tuple[str, ...]
    variables: tuple[str, ...]
    definitions: Mapping[str, Definition]
    annotations: Annotations

    def definition_at(self, module: str, line: int) -> str | None:
        """Return the name of the operator that is defined on the line of the module, if any is."""
        for each in self.definitions.values():
            if each.module == module and each.first_line <= line <= each.last_line:
                return each.name
        return None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int
    at_margin: bool = False


_TOKEN = re.compile(
    r"""
      (?P<comment>\(\*|\\\*[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<rule>-{4,}|={4,})
    | (?P<defined>==)
    | (?P<word>[A-Za-z0-9_]+)
    | (?P<other>\\[A-Za-z]+|\S)
    """,
    re.VERBOSE,
)
_BLOCK_END = re.compile(r"\(\*|\*\)")
_ALIAS = re.compile(r"@typeAlias:\s*(\w+)\s*=\s*([^;]*);")
_TYPE = re.compile(r"@type:\s*([^;]*);")
_DECLARATIONS = {
    "CONSTANT": "constants",
    "CONSTANTS": "constants",
    "VARIABLE": "variables",
    "VARIABLES": "variables",
}
_ENDS_DEFINITION = frozenset(
    [*_DECLARATIONS, "ASSUME", "ASSUMPTION", "AXIOM", "THEOREM", "LEMMA", "INSTANCE", "LOCAL"]
)


def read_module(path: Path) -> ModuleText:
    """Read a module and the modules that it extends.

    Raises:
        InvalidSpecification: there is no such file.
        ParseFailure: a type annotation cannot be read.
    """
    parts = list(_read_all(path, set()))
    aliases: dict[str, Type] = {}
    for part in parts:
        for name, text in part.aliases.items():
            aliases[name] = parse_type(text, aliases)
    types = {
        name: _type_of(name, text, aliases, part.name)
        for part in parts
        for name, text in part.types.items()
    }
    return ModuleText(
        name=path.stem,
        path=path,
        constants=tuple(name for part in parts for name in part.declared["constants"]),
        variables=tuple(name for part in parts for name in part.declared["variables"]),
        definitions={each.name: each for part in parts for each in part.definitions},
        annotations=Annotations(types, aliases),
    )


def _type_of(name: str, text: str, aliases: Mapping[str, Type], module: str) -> Type:
    try:
        return parse_type(text, aliases)
    except ParseFailure as failure:
        raise ParseFailure(f"{failure} of {name} in {module}", module=module) from failure


class _Part:
    """A file of a module."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.extends: list[str] = []
        self.declared: dict[str, list[str]] = {"constants": [], "variables": []}
        self.definitions: list[Definition] = []
        self.aliases: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self._read(list(self._without_comments(text)))

    def _without_comments(self, text: str) -> Iterator[_Token]:
        """Yield words and signs; a type annotation is a token of its own."""
        line_comment = ""
        for token in _tokens(text):
            if token.kind == "line comment":
                line_comment += token.text.removeprefix("\\*") + "\n"
                continue
            yield from self._annotations_in(line_comment, token.line)
            line_comment = ""
            if token.kind == "comment":
                yield from self._annotations_in(token.text, token.line)
            else:
                yield token

    def _annotations_in(self, comment: str, line: int) -> Iterator[_Token]:
        for match in _ALIAS.finditer(comment):
            self.aliases[match[1]] = match[2]
        for match in _TYPE.finditer(comment):
            yield _Token("annotation", match[1], line)

    def _read(self, tokens: list[_Token]) -> None:
        position = 0
        annotation: str | None = None
        while position < len(tokens):
            token = tokens[position]
            position += 1
            if token.kind == "annotation":
                annotation = token.text
            elif token.text == "EXTENDS":
                position, names = _names(tokens, position)
                self.extends += [each for each, _ in names]
            elif token.text in _DECLARATIONS:
                position, names = _names(tokens, position)
                for name, own in names:
                    self.declared[_DECLARATIONS[token.text]].append(name)
                    self._annotate(name, own or annotation)
                    annotation = None
            elif token.kind == "defined":
                self._define(tokens, position - 1, annotation)
                annotation = None

    def _annotate(self, name: str, annotation: str | None) -> None:
        if annotation is not None:
            self.types[name] = annotation

    def _define(self, tokens: list[_Token], position: int, annotation: str | None) -> None:
        """Note the definition whose ``==`` stands at the position."""
        start = position - 1
        if start >= 0 and tokens[start].text in (")", "]"):
            opening = {")": "(", "]": "["}[tokens[start].text]
            while start > 0 and tokens[start].text != opening:
                start -= 1
            start -= 1
        # What does not begin at the margin stands inside a LET.
        if start < 0 or tokens[start].kind != "word" or not tokens[start].at_margin:
            return
        name = tokens[start]
        if self.definitions:
            self._close(name.line)
        last = next(
            (
                each.line
                for each in tokens[position:]
                if each.kind == "rule" or each.text in _ENDS_DEFINITION
            ),
            tokens[-1].line + 1,
        )
        self.definitions.append(
            Definition(name.text, self.name, name.line, max(name.line, last - 1))
        )
        self._annotate(name.text, annotation)

    def _close(self, line: int) -> None:
        """Close the previous definition where another begins."""
        before = self.definitions[-1]
        last = max(before.first_line, min(before.last_line, line - 1))
        self.definitions[-1] = Definition(before.name, before.module, before.first_line, last)


def _names(tokens: list[_Token], position: int) -> tuple[int, list[tuple[str, str | None]]]:
    """Return comma-separated names, each with the preceding annotation."""
    names: list[tuple[str, str | None]] = []
    while position < len(tokens):
        annotation = None
        while position < len(tokens) and tokens[position].kind == "annotation":
            annotation = tokens[position].text
            position += 1
        if position == len(tokens) or tokens[position].kind != "word":
            break
        names.append((tokens[position].text, annotation))
        position += 1
        if position < len(tokens) and tokens[position].text == "(":
            while tokens[position].text != ")":
                position += 1
            position += 1
        if position == len(tokens) or tokens[position].text != ",":
            break
        position += 1
    return position, names


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    line = 1
    counted = 0
    while match := _TOKEN.search(text, position):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        kind = match.lastgroup or ""
        position = match.end()
        if kind == "comment" and match[0] == "(*":
            position = _block_end(text, position)
            yield _Token("comment", text[match.start() : position], line)
        elif kind == "comment":
            yield _Token("line comment", match[0], line)
        else:
            at_margin = match.start() == 0 or text[match.start() - 1] == "\n"
            yield _Token(kind, match[0], line, at_margin)


def _block_end(text: str, position: int) -> int:
    """Return the end of a block comment that began before the position; block comments nest."""
    depth = 1
    while depth:
        match = _BLOCK_END.search(text, position)
        if match is None:
            return len(text)
        depth += 1 if match[0] == "(*" else -1
        position = match.end()
    return position


def _read_all(path: Path, seen: set[str]) -> Iterator[_Part]:
    """Yield the parts of a module, extended modules before the modules that extend them."""
    try:
        text = named_file(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidSpecification(f"the module {path} cannot be read: {error.strerror}") from error
    seen.add(path.stem)
    part = _Part(path.stem, text)
    for name in part.extends:
        sibling = path.parent / f"{name}.tla"
        if name not in seen and sibling.is_file():
            yield from _read_all(sibling, seen)
    yield part
