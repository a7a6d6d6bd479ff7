r"""Apalache's type annotations: ``\* @type: Str -> Set(Int);`` as a small tree of types.

The grammar that is read:

- ``Int``, ``Bool``, ``Str``;
- ``Set(T)``, ``Seq(T)``, ``<<T, U>>``, ``{f: T, g: U}`` (also ``[f: T]``), ``T -> U``;
- ``{f: T, rest}``, a record with further fields;
- a name in capitals, an uninterpreted type; a name in small letters, a type variable;
- ``$name``, an alias made by ``@typeAlias: name = T;`` (or, as of old, an alias in capitals);
- ``(T, U) => V``, an operator.

Variants (``A(T) | B(U)``) are not read: TLC has nothing that corresponds to them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from purgatory_tla.errors import ParseFailure


@dataclass(frozen=True, slots=True)
class BasicType:
    """The type ``Int``, ``Bool`` or ``Str``."""

    name: str


@dataclass(frozen=True, slots=True)
class UninterpretedType:
    """A type of values that can only be compared, such as model values."""

    name: str


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A variable that stands for any type."""

    name: str


@dataclass(frozen=True, slots=True)
class SetType:
    """The type ``Set(element)`` of sets."""

    element: "Type"


@dataclass(frozen=True, slots=True)
class SequenceType:
    """The type ``Seq(element)`` of sequences."""

    element: "Type"


@dataclass(frozen=True, slots=True)
class TupleType:
    """The type ``<<first, second>>`` of tuples."""

    elements: tuple["Type", ...]


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The type ``argument -> result`` of functions."""

    argument: "Type"
    result: "Type"


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record type, ``{name: type}``; an ``open`` record may have further fields."""

    fields: tuple[tuple[str, "Type"], ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class OperatorType:
    """The type ``(parameter, parameter) => result`` of operators."""

    parameters: tuple["Type", ...]
    result: "Type"


Type: TypeAlias = (
    BasicType
    | UninterpretedType
    | TypeVariable
    | SetType
    | SequenceType
    | TupleType
    | FunctionType
    | RecordType
    | OperatorType
)


@dataclass(frozen=True, slots=True)
class Annotations:
    """The declarations in a module's comments: types by the declared name, and aliases."""

    types: Mapping[str, Type] = field(default_factory=dict)
    aliases: Mapping[str, Type] = field(default_factory=dict)


_BASIC = ("Int", "Bool", "Str")
_TOKEN = re.compile(r"\s*(<<|>>|->|=>|\$?\w+|[(){}\[\],:|])")


def parse_type(text: str, aliases: Mapping[str, Type] | None = None) -> Type:
    """Return the type that the text writes, aliases replaced.

    Raises:
        ParseFailure: the text is no type, or an alias is not known.
    """
    reader = _Reader(text, aliases or {})
    parsed = reader.type()
    reader.expect_end()
    return parsed


def type_text(one: Type) -> str:
    """Return the type as an annotation writes it."""
    match one:
        case BasicType(name) | UninterpretedType(name) | TypeVariable(name):
            return name
        case SetType(element):
            return f"Set({type_text(element)})"
        case SequenceType(element):
            return f"Seq({type_text(element)})"
        case TupleType(elements):
            return "<<" + ", ".join(map(type_text, elements)) + ">>"
        case RecordType(fields, is_open):
            texts = [f"{name}: {type_text(each)}" for name, each in fields]
            return "{" + ", ".join(texts + ["rest"] * is_open) + "}"
        case FunctionType(argument, result):
            left = type_text(argument)
            is_arrow = isinstance(argument, FunctionType | OperatorType)
            return f"{f'({left})' if is_arrow else left} -> {type_text(result)}"
        case OperatorType(parameters, result):
            return f"({', '.join(map(type_text, parameters))}) => {type_text(result)}"


class _Reader:
    """Reads a type from left to right."""

    def __init__(self, text: str, aliases: Mapping[str, Type]) -> None:
        self._text = " ".join(text.split())
        self._aliases = aliases
        self._position = 0
        self._tokens: list[str] = []
        place = 0
        while place < len(self._text):
            match = _TOKEN.match(self._text, place)
            if match is None:
                raise self._unexpected(self._text[place])
            self._tokens.append(match[1])
            place = match.end()

    def _unexpected(self, found: str | None = None) -> ParseFailure:
        at = found or self._next() or "the end"
        return ParseFailure(f"'{at}' is not expected in the type annotation '{self._text}'")

    def _next(self) -> str | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _skip(self, token: str) -> bool:
        seen = self._next() == token
        self._position += seen
        return seen

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise self._unexpected()

    def expect_end(self) -> None:
        if self._next() is not None:
            raise self._unexpected()

    def type(self) -> Type:
        """Return a type with its arrows; ``->`` binds to the right."""
        if self._skip("("):
            inside = self._list(")")
            if self._skip("=>"):
                return OperatorType(inside, self.type())
            if len(inside) != 1:
                raise self._unexpected()
            (left,) = inside
        else:
            left = self._simple()
        if self._skip("->"):
            return FunctionType(left, self.type())
        if self._skip("=>"):
            return OperatorType((left,), self.type())
        return left

    def _list(self, closing: str) -> tuple[Type, ...]:
        types: list[Type] = []
        if self._skip(closing):
            return ()
        while True:
            types.append(self.type())
            if self._skip(closing):
                return tuple(types)
            self._expect(",")

    def _simple(self) -> Type:
        if self._skip("<<"):
            return TupleType(self._list(">>"))
        for opening, closing in ("{}", "[]"):
            if self._skip(opening):
                return self._record(closing)
        return self._named()

    def _named(self) -> Type:
        name = self._next()
        if name is None or not name.strip("$").isidentifier():
            raise self._unexpected()
        self._position += 1
        if name in ("Set", "Seq"):
            self._expect("(")
            element = self.type()
            self._expect(")")
            return SetType(element) if name == "Set" else SequenceType(element)
        if name in _BASIC:
            return BasicType(name)
        if name.lstrip("$") in self._aliases:
            return self._aliases[name.lstrip("$")]
        if name.isupper():
            return UninterpretedType(name)
        if name.islower() and not name.startswith("$"):
            return TypeVariable(name)
        self._position -= 1
        raise self._unexpected()

    def _record(self, closing: str) -> Type:
        fields: dict[str, Type] = {}
        while not self._skip(closing):
            name = self._next()
            if name is None or name in fields or not name.replace("_", "a").isalnum():
                raise self._unexpected()
            self._position += 1
            if not self._skip(":"):
                self._expect(closing)
                return RecordType(tuple(sorted(fields.items())), open=True)
            fields[name] = self.type()
            if self._next() != closing:
                self._expect(",")
        return RecordType(tuple(sorted(fields.items())))
