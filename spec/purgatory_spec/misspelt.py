"""Suggestions for a misspelt field or value of a document: what its type knows that is near."""

import re
from enum import Enum

import msgspec
from msgspec import inspect

from purgatory_spec.nearest import did_you_mean

_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<word>[^`]*)`(?: - at `\$(?P<path>.*)`)?")
_NO_VALUE = re.compile(r"Invalid (?:enum )?value '(?P<word>[^']*)'(?: - at `\$(?P<path>.*)`)?")
_MOST_LISTED = 16
_PART = re.compile(r"\w+|\[[^\]]*\]")


def suggestion(error: msgspec.ValidationError, kind: object) -> str:
    """Return what was meant by an unknown field or value of a document of a type.

    The words begin with a semicolon, to stand behind those of the error; they are empty where the
    error is another one.
    """
    for problem, known in ((_UNKNOWN_FIELD, _fields), (_NO_VALUE, _values)):
        if found := problem.search(str(error)):
            allowed = [*dict.fromkeys(known(kind, _PART.findall(found["path"] or "")))]
            if found["word"] in allowed:
                return ""  # another alternative of a union has it
            few = known is _values and 0 < len(allowed) <= _MOST_LISTED
            listed = f"allowed are {', '.join(map(repr, allowed))}" if few else ""
            hint = did_you_mean(found["word"], allowed, listed)
            return f"; {hint}" if hint else ""
    return ""


def _fields(kind: object, path: list[str]) -> list[str]:
    """Return the names of the fields that an object at a path may have."""
    return [name for at in _at(kind, path) for name in _fields_of(at)]


def _values(kind: object, path: list[str]) -> list[str]:
    """Return the words that may stand at a path: of an enumeration, or of the tag of a union."""
    words = [str(each.value) for at in _at(kind, path) for each in _choices(at)]
    tags = [
        str(at.tag)
        for at in _at(kind, path[:-1])
        if isinstance(at, inspect.StructType) and path and at.tag_field == path[-1]
    ]
    return words or tags


def _at(kind: object, path: list[str]) -> list[inspect.Type]:
    """Return the types that may stand at a path of a document, without unions."""
    found = _alternatives(inspect.type_info(kind))
    for part in path:
        found = [
            inner for at in found for each in _inner(at, part) for inner in _alternatives(each)
        ]
    return found


def _alternatives(info: inspect.Type) -> list[inspect.Type]:
    return [*info.types] if isinstance(info, inspect.UnionType) else [info]


def _inner(at: inspect.Type, part: str) -> list[inspect.Type]:
    """Return the types that may stand in a field of an object, or at a place of an array."""
    if isinstance(at, inspect.StructType):
        return [field.type for field in at.fields if field.encode_name == part]
    if isinstance(at, inspect.CollectionType):
        return [at.item_type]
    if isinstance(at, inspect.VarTupleType):
        return [at.item_type]
    return [at.value_type] if isinstance(at, inspect.DictType) else []


def _fields_of(at: inspect.Type) -> list[str]:
    if not isinstance(at, inspect.StructType):
        return []
    return [*([at.tag_field] if at.tag_field else []), *(each.encode_name for each in at.fields)]


def _choices(at: inspect.Type) -> list[Enum]:
    return [*at.cls] if isinstance(at, inspect.EnumType) else []
