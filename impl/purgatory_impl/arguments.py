"""Arguments that callers give, made integers of Python's own or refused."""

from __future__ import annotations

from datetime import timedelta
from operator import index
from types import FunctionType, MethodType
from typing import Final, SupportsIndex, TypeAlias

from purgatory_impl.errors import InvalidConfiguration, InvalidDelay

Delay: TypeAlias = SupportsIndex | timedelta
"""Whole milliseconds: a number of any integer type, or a ``timedelta`` of so many."""

_MILLISECOND: Final = timedelta(milliseconds=1)


def configured(name: str, value: SupportsIndex, least: int = 1, largest: int | None = None) -> int:
    """The value of a parameter of a constructor.

    Args:
        name: Of the parameter.
        value: A whole number, of any integer type.
        least: The smallest value allowed.
        largest: The largest value allowed, if there is one.

    Raises:
        InvalidConfiguration: the value is no whole number or lies outside.
    """
    try:
        whole = index(value)
    except TypeError:
        raise InvalidConfiguration(f"{name} is {value!r}; it must be a whole number") from None
    if whole < least:
        raise InvalidConfiguration(f"{name} is {whole}; it must be at least {least}")
    if largest is not None and whole > largest:
        raise InvalidConfiguration(f"{name} is {whole}; it must be at most {largest}")
    return whole


def see_kind(name: str, value: object, kind: type) -> None:
    """See in the pure build what the compiled build sees by itself.

    Raises:
        TypeError: the value is of another kind.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}; it must be a {kind.__name__}")


# Compiled, a final name is read in one step, and an imported one looked up in a dictionary.
_FUNCTION: Final = FunctionType
_METHOD: Final = MethodType


def can_be_called(given: object) -> bool:
    """Whether something can be called; told of functions and methods without a call."""
    kind = type(given)
    return kind is _FUNCTION or kind is _METHOD or callable(given)


def whole_ms(delay_ms: Delay) -> int:
    """A delay as an integer of Python's own; other integer types would wrap around.

    A ``timedelta`` is not rounded: down would be early and up late, and the caller knows which.

    Raises:
        InvalidDelay: the delay is no whole number of milliseconds.
    """
    if isinstance(delay_ms, timedelta):
        whole, rest = divmod(delay_ms, _MILLISECOND)
        if rest:
            raise InvalidDelay(delay_ms)
        return whole
    try:
        return index(delay_ms)
    except TypeError:
        raise InvalidDelay(delay_ms) from None
