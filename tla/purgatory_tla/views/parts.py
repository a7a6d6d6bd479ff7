"""Parts of a state with their types, which a checker's values do not show."""

from collections.abc import Mapping

from purgatory_tla.views.sayings import State


def number(state: State, variable: str) -> int:
    """Return the number that a variable holds."""
    value = state[variable]
    assert isinstance(value, int)
    return value


def members(value: object) -> frozenset[object]:
    """Return the set that a value is."""
    assert isinstance(value, frozenset)
    return value


def entries(value: object) -> Mapping[object, object]:
    """Return the function that a value is."""
    assert isinstance(value, Mapping)
    return value


def numbers(value: object) -> list[int]:
    """Return all results of a function to numbers."""
    return [each for each in entries(value).values() if isinstance(each, int)]
