"""Arguments that callers give, made integers of Python's own or refused."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from operator import index
from types import FunctionType, MethodType
from typing import Final, SupportsIndex, TypeAlias

from purgatory_impl.compiler import i32
from purgatory_impl.errors import InvalidConfiguration, InvalidDelay

Delay: TypeAlias = SupportsIndex | timedelta
"""Whole milliseconds: a number of any integer type, or a ``timedelta`` of so many."""

_MILLISECOND: Final = timedelta(milliseconds=1)


def configured(name: str, value: SupportsIndex, least: int = 1, largest: int | None = None) -> int:
    """Return the value of a parameter of a constructor.

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
    """Decide whether an object can be called, without a call for functions and methods."""
    kind = type(given)
    return kind is _FUNCTION or kind is _METHOD or callable(given)


_ASYNC: Final[i32] = 0x80 | 0x200
"""The flags of the code of a coroutine or an asynchronous generator; see ``inspect``."""


def see_callable(name: str, given: object) -> None:
    """Refuse what cannot be called, and what would make a coroutine, which nothing runs.

    Args:
        name: Of the parameter.
        given: The callable.

    Raises:
        InvalidConfiguration: it cannot be called.
        TypeError: it is defined by ``async def``.
    """
    if not can_be_called(given):
        raise InvalidConfiguration(f"{name} is {given!r}, which cannot be called")
    refuse_async(name, given)


def refuse_async(name: str, given: object) -> None:
    """Refuse a callable that is defined by ``async def``: nothing would run its coroutine.

    Raises:
        TypeError: it is one, or a method, a ``partial`` or an object with ``__call__`` of one.
    """
    if _is_async(given):
        raise TypeError(
            f"{name} is {given!r}, which makes a coroutine, and nothing runs that; give a function "
            "that is not async, for instance one that hands the coroutine to its event loop"
        )


def _is_async(given: object) -> bool:
    function = given
    while isinstance(function, partial):
        function = function.func
    if type(function) is not _FUNCTION and type(function) is not _METHOD:
        # An object is called by way of its class; of a built-in function that is no function.
        function = type(function).__call__
    if type(function) is _METHOD:
        function = function.__func__
    if type(function) is not _FUNCTION:
        return False
    flags: i32 = function.__code__.co_flags
    return flags & _ASYNC != 0


def whole_ms(delay_ms: Delay) -> int:
    """Return a delay as a Python integer; other integer types would wrap around.

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
