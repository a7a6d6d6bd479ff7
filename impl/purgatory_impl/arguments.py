"""Arguments that callers give, made integers of Python's own or refused."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from purgatory_impl.errors import InvalidConfiguration, InvalidDelay


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


def whole_ms(delay_ms: SupportsIndex) -> int:
    """A delay as an integer of Python's own; other integer types would wrap around.

    Raises:
        InvalidDelay: the delay is no whole number.
    """
    try:
        return index(delay_ms)
    except TypeError:
        raise InvalidDelay(delay_ms) from None
