"""Parts of a state with their types, which a checker's values do not show."""

from collections.abc import Mapping

from purgatory_tla.views.sayings import State


def number(state: State, variable: str) -> int:
    """A variable that holds a number."""
    value = state[variable]
    assert isinstance(value, int)
    return value


def members(value: object) -> frozenset[object]:
    """A set."""
    assert isinstance(value, frozenset)
    return value


def entries(value: object) -> Mapping[object, object]:
    """A function."""
    assert isinstance(value, Mapping)
    return value


def numbers(value: object) -> list[int]:
    """All values of a function to numbers."""
    return [each for each in entries(value).values() if isinstance(each, int)]
