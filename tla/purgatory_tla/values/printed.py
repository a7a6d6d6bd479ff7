"""TLC's text of a value, read back.

TLC prints a function over ``1..n`` like a tuple, one over strings that look like names like a
record, and every empty one as ``<< >>``. So the text is read in two steps: ``parse`` says what
stands there (``Printed…``), and ``shaped`` in ``shapes`` makes it a value of a declared type.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from purgatory_tla.errors import UnexpectedOutput
from purgatory_tla.values.values import ModelValue


@dataclass(frozen=True, slots=True)
class PrintedSet:
    """``{a, b}`` or ``1..3``."""

    elements: tuple["Printed", ...]


@dataclass(frozen=True, slots=True)
class PrintedTuple:
    """``<<a, b>>``: a tuple, a sequence, a function over 1..n, or an empty function."""

    elements: tuple["Printed", ...]


@dataclass(frozen=True, slots=True)
class PrintedRecord:
    """``[a |-> 1]``: a record, or a function over strings."""

    fields: tuple[tuple[str, "Printed"], ...]


@dataclass(frozen=True, slots=True)
class PrintedFunction:
    """A printed function ``(a :> 1 @@ b :> 2)``, as pairs of argument and result."""

    pairs: tuple[tuple["Printed", "Printed"], ...]


Printed: TypeAlias = (
    int | bool | str | ModelValue | PrintedSet | PrintedTuple | PrintedRecord | PrintedFunction
)

_Item = TypeVar("_Item")

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<symbol><<|>>|\|->|:>|@@|\.\.|/\\|[{}()\[\],=])
      | (?P<word>-?[0-9]+(?![A-Za-z0-9_])|[A-Za-z0-9_]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED = {"t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_LARGEST_INTERVAL = 1_000_000
_INTEGER = re.compile(r"-?[0-9]+\Z")


def parse(text: str) -> Printed:
    """Parse the text of a value.

    Raises:
        UnexpectedOutput: the text is no value as TLC prints one.
    """
    reader = _Reader(text)
    value = reader.value()
    reader.expect_end()
    return value


def parse_state(text: str) -> dict[str, Printed]:
    r"""Return the variables of a state: ``/\ name = value`` each, or a single ``name = value``.

    Raises:
        UnexpectedOutput: the text is no state as TLC prints one.
    """
    reader = _Reader(text)
    state: dict[str, Printed] = {}
    while not reader.at_end():
        reader.skip("/\\")
        name = reader.name()
        reader.expect("=")
        if name in state:
            raise reader.unexpected(f"'{name}' a second time")
        state[name] = reader.value()
    return state


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._position = 0

    def at_end(self) -> bool:
        return self._position == len(self._tokens)

    def expect_end(self) -> None:
        if not self.at_end():
            raise self.unexpected("the end")

    def unexpected(self, wanted: str) -> UnexpectedOutput:
        found = "the end" if self.at_end() else self._tokens[self._position][1]
        return UnexpectedOutput(f"expected {wanted}, found {found} in TLC's value: {self._text}")

    def _take(self) -> tuple[str, str]:
        if self.at_end():
            raise self.unexpected("a value")
        self._position += 1
        return self._tokens[self._position - 1]

    def _sees(self, symbol: str) -> bool:
        return not self.at_end() and self._tokens[self._position] == ("symbol", symbol)

    def skip(self, symbol: str) -> bool:
        """Pass over a symbol if it is next; whether it was."""
        seen = self._sees(symbol)
        self._position += seen
        return seen

    def expect(self, symbol: str) -> None:
        if not self.skip(symbol):
            raise self.unexpected(symbol)

    def name(self) -> str:
        kind, text = self._take()
        if kind != "word":
            self._position -= 1
            raise self.unexpected("a name")
        return text

    def value(self) -> Printed:
        """Read one value from the text, and return it."""
        kind, text = self._take()
        if kind == "string":
            return _unquoted(text)
        if kind == "word":
            return self._atom(text)
        match text:
            case "{":
                return PrintedSet(self._list(self.value, "}"))
            case "<<":
                return PrintedTuple(self._list(self.value, ">>"))
            case "[":
                return PrintedRecord(self._list(self._field, "]"))
            case "(":
                return self._function()
        self._position -= 1
        raise self.unexpected("a value")

    def _atom(self, text: str) -> Printed:
        if text in ("TRUE", "FALSE"):
            return text == "TRUE"
        if text == "BOOLEAN":
            return PrintedSet((False, True))
        if not _INTEGER.match(text):
            return ModelValue(text)
        if not self.skip(".."):
            return int(text)
        last = self.name()
        if not _INTEGER.match(last):
            raise self.unexpected("an integer after ..")
        elements = range(int(text), int(last) + 1)
        if len(elements) > _LARGEST_INTERVAL:
            raise UnexpectedOutput(f"the interval {text}..{last} is too large to be read")
        return PrintedSet(tuple(elements))

    def _list(self, item: Callable[[], _Item], closing: str) -> tuple[_Item, ...]:
        items: list[_Item] = []
        if self.skip(closing):
            return ()
        while True:
            items.append(item())
            if self.skip(closing):
                return tuple(items)
            self.expect(",")

    def _field(self) -> tuple[str, Printed]:
        name = self.name()
        self.expect("|->")
        return name, self.value()

    def _function(self) -> PrintedFunction:
        pairs = [self._pair()]
        while self.skip("@@"):
            pairs.append(self._pair())
        self.expect(")")
        return PrintedFunction(tuple(pairs))

    def _pair(self) -> tuple[Printed, Printed]:
        argument = self.value()
        self.expect(":>")
        return argument, self.value()


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise UnexpectedOutput(f"unknown characters in TLC's value: {text[position:end]}")
        tokens.append((match.lastgroup, match.group(match.lastgroup)))
        position = match.end()
    return tokens


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text[1:-1])
