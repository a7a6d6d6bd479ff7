"""TLA+ values as Python values, in the shapes that itf-py gives them, and back to TLA+ text.

=============== ==============================================================
TLA+            Python
=============== ==============================================================
integer         ``int``
TRUE, FALSE     ``bool``
string          ``str``
set             ``frozenset``
tuple           ``tuple``
sequence        ``ImmutableList`` (of itf-py), which is hashable
function        ``ImmutableDict`` (of itf-py), which is hashable
record          a named tuple called ``Rec``, see ``record``
model value     ``ModelValue``
=============== ==============================================================

A Python named tuple equals every tuple with the same entries. In TLA+ a record is not a tuple, and
records with different fields differ; so the ones that are made here compare their fields too.
"""

import keyword
from collections import namedtuple
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar, cast

from purgatory_tla.values.itf import immutable_list, immutable_map

Value: TypeAlias = Hashable

_Argument = TypeVar("_Argument", bound=Hashable)

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


class _Model(NamedTuple):
    value: str


class ModelValue(_Model):
    """A constant that equals nothing but itself; ``value`` is its name."""

    __slots__ = ()
    # itf-py writes a class with this mark as a tagged value, not as a record.
    _itf_variant = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelValue) and self.value == other.value

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("model value", self.value))


def field_names(value: object) -> tuple[str, ...] | None:
    """Return the fields of a record; None for any other value."""
    names = getattr(value, "_fields", None)
    return names if isinstance(value, tuple) and not isinstance(value, ModelValue) else None


def _same_record(one: tuple[Value, ...], other: object) -> bool:
    names = field_names(other)
    if names is None or set(names) != set(field_names(one) or ()):
        return False
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _other_record(one: tuple[Value, ...], other: object) -> bool:
    return not _same_record(one, other)


def _record_hash(one: tuple[Value, ...]) -> int:
    return hash(frozenset((name, getattr(one, name)) for name in field_names(one) or ()))


@cache
def _record_class(names: tuple[str, ...]) -> type:
    methods = {
        "__slots__": (),
        "__eq__": _same_record,
        "__ne__": _other_record,
        "__hash__": _record_hash,
    }
    return type("Rec", (namedtuple("Rec", names),), methods)


def record(fields: Mapping[str, Value]) -> Value:
    """Return a TLA+ record: its fields are attributes.

    The fields stand in alphabetical order. Where a name cannot be an attribute of a named tuple
    (a Python keyword, a leading underscore or digit) the record is a map from names instead.
    """
    names = tuple(sorted(fields))
    if any(not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_" for name in names):
        return function({name: fields[name] for name in names})
    made: Value = _record_class(names)(**fields)
    return made


def function(pairs: Mapping[_Argument, Value]) -> Value:
    """Return a TLA+ function: a map that can be hashed."""
    return cast("Value", immutable_map(cast("Mapping[object, object]", pairs)))


def sequence(elements: Iterable[Value]) -> Value:
    """Return a TLA+ sequence: a list that can be hashed and not be changed."""
    return cast("Value", immutable_list(elements))


def normalised(value: object) -> Value:
    """Return the value with every record in it made by ``record``, so that they compare.

    itf-py makes records of its own kind when it reads a trace.
    """
    if isinstance(value, frozenset):
        return frozenset(normalised(each) for each in value)
    if isinstance(value, Mapping):
        return function({normalised(key): normalised(each) for key, each in value.items()})
    if isinstance(value, list):
        return sequence([normalised(each) for each in value])
    if isinstance(value, tuple) and not isinstance(value, ModelValue):
        names = field_names(value)
        if names is None:
            return tuple(normalised(each) for each in value)
        if not hasattr(type(value), "_itf_variant"):
            return record({name: normalised(getattr(value, name)) for name in names})
    assert isinstance(value, Hashable)
    return value


def to_tla(value: object) -> str:
    """Return TLA+ text of a value, for a module that extends ``Integers`` and ``TLC``.

    Sets and functions are written in a fixed order. A configuration file of TLC takes integers,
    strings without escapes, booleans, model values and sets of these; everything else is defined
    in a module and assigned by ``Name <- Definition``.

    Raises:
        ValueError: a string holds a character that TLA+ cannot write (control characters other
            than tab, newline, form feed and return; anything above U+00FF; the back quote, which
            begins a comment even there).
        TypeError: the value is none of the kinds that this module describes.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, ModelValue):
        return value.value
    if isinstance(value, (frozenset, set)):
        return "{" + ", ".join(sorted(to_tla(each) for each in value)) + "}"
    if isinstance(value, Mapping):
        return _function_text(value)
    names = field_names(value)
    if names:
        fields = (f"{name} |-> {to_tla(getattr(value, name))}" for name in names)
        return "[" + ", ".join(fields) + "]"
    if isinstance(value, (tuple, list)):
        return "<<" + ", ".join(to_tla(each) for each in value) + ">>"
    raise TypeError(f"a {type(value).__name__} is no TLA+ value")


def _function_text(value: Mapping[object, object]) -> str:
    if not value:
        return "<<>>"
    pairs = sorted((to_tla(key), to_tla(each)) for key, each in value.items())
    return "(" + " @@ ".join(f"{key} :> {each}" for key, each in pairs) + ")"


def _quoted(text: str) -> str:
    for character in text:
        code = ord(character)
        unprintable = code < 32 or 127 <= code < 160 or code > 255
        if character == "`" or (unprintable and character not in _ESCAPES):
            raise ValueError(f"TLA+ cannot write the character U+{code:04X} in a string")
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'
