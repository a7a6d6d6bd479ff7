"""The ``@says`` lines of actions: a step of a trace as words, with values of its two states.

A line names who acts and says what it does: ``self: reads {available}, wants {request[self]}``.
``{name}`` is a variable's value before the step, ``{name'}`` after it; behind the name may stand
indices, which are ``self``, a number, the name of a thread or again such an expression, and
``.field``. ``{name - name'}`` is what goes from a set, and stands bare where it is one element.

``self`` is the thread whose place in the program changes; where an action has a line ``@self
name``, it is the argument at which that variable changes.
"""

import re
from collections.abc import Mapping

State = Mapping[str, object]
"""The values of all variables, as ``itf_py`` gives them."""

_SELF = re.compile(r"\bself\b")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<mark>.))")


class InvalidSaying(Exception):
    """A placeholder cannot be read, or the states hold nothing at that place."""


def fill(text: str, before: State, after: State, acting: object) -> str:
    """Return the text with every placeholder replaced by its value.

    Where nobody is known to act (``acting`` is empty), what depends on it is a question mark.

    Raises:
        InvalidSaying: a placeholder has no value.
    """

    def value(found: re.Match[str]) -> str:
        if not acting and _SELF.search(found[1]):
            return "?"
        return show(_Reader(found[1], before, after, acting).whole())

    return _PLACEHOLDER.sub(value, text)


def show(value: object) -> str:
    """Return a value in words: strings bare, sets in braces, sequences in brackets."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{show(key)}: {show(each)}" for key, each in value.items()) or "nothing"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(show(each) for each in value))}}}"
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return show(value._asdict())
    if isinstance(value, tuple | list):
        return f"[{', '.join(show(each) for each in value)}]"
    return str(value)


class _Reader:
    """Reads one placeholder from left to right and evaluates it on the way."""

    def __init__(self, text: str, before: State, after: State, acting: object) -> None:
        self._text = text
        self._tokens = [each for each in _TOKEN.finditer(text) if each[0].strip()]
        self._position = 0
        self._before, self._after, self._acting = before, after, acting

    def whole(self) -> object:
        name = self._next()["name"]
        if name != "self" and name not in self._before:
            raise self._error("it must begin with a variable")
        value = self._acting if name == "self" else self._path(name)
        if self._takes("-"):
            value = self._gone(value)
        if self._position < len(self._tokens):
            raise self._error(f"{self._tokens[self._position][0].strip()!r} is not expected")
        return value

    def _gone(self, before: object) -> object:
        """Return the elements of one set that are missing in the other."""
        name = self._next()["name"]
        after = self._path(name) if name in self._before else None
        if not isinstance(before, frozenset) or not isinstance(after, frozenset):
            raise self._error("only what is a set before and after can be told apart")
        gone = before - after
        return next(iter(gone)) if len(gone) == 1 else gone

    def _next(self) -> re.Match[str]:
        if self._position >= len(self._tokens):
            raise self._error("it ends too early")
        self._position += 1
        return self._tokens[self._position - 1]

    def _index(self) -> object:
        token = self._next()
        if token["number"] is not None:
            return int(token["number"])
        if token["name"] == "self":
            return self._acting
        if token["name"] in self._before:
            return self._path(token["name"])
        return token["name"]

    def _path(self, name: str) -> object:
        value = self._after[name] if self._takes("'") else self._before[name]
        while True:
            if self._takes("["):
                value = self._at(value, self._index())
                if not self._takes("]"):
                    raise self._error("a ] is missing")
            elif self._takes("."):
                value = self._field(value)
            else:
                return value

    def _takes(self, mark: str) -> bool:
        found = self._position < len(self._tokens) and self._tokens[self._position]["mark"] == mark
        self._position += found
        return found

    def _at(self, value: object, index: object) -> object:
        if isinstance(value, Mapping) and index in value:
            return value[index]
        if isinstance(value, tuple | list) and type(index) is int and 1 <= index <= len(value):
            return value[index - 1]
        raise self._error(f"{show(value)} has nothing at {show(index)}")

    def _field(self, value: object) -> object:
        name = self._next()["name"]
        if name is None or not hasattr(value, "_fields") or not hasattr(value, name):
            raise self._error(f"{show(value)} has no field {name}")
        field: object = getattr(value, name)
        return field

    def _error(self, problem: str) -> InvalidSaying:
        return InvalidSaying(f"{{{self._text}}}: {problem}")
