"""Occurrences of the operations of one case in those of another, by other numbers and names."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

import msgspec

from purgatory_spec.operations import Operation


def is_within(part: Sequence[Operation], whole: Sequence[Operation]) -> bool:
    """Decide whether some operations occur in others in the same order, by other numbers."""
    return any(True for _ in _occurrences(tuple(part), tuple(whole), {}))


def _occurrences(
    part: object, whole: object, names: Mapping[str, str]
) -> Iterator[Mapping[str, str]]:
    """Yield the ways in which a value is in another, in the same order, each with its names.

    Numbers vary. Names may be others, as long as two names stay two and one stays one.
    """
    if isinstance(part, str) and isinstance(whole, str) and not isinstance(part, Enum):
        if part in names:
            if names[part] == whole:
                yield names
        elif whole not in names.values():
            yield {**names, part: whole}
    elif isinstance(part, tuple) and isinstance(whole, tuple):
        if not part:
            yield names
        elif len(part) <= len(whole):
            for known in _occurrences(part[0], whole[0], names):
                yield from _occurrences(part[1:], whole[1:], known)
            yield from _occurrences(part, whole[1:], names)
    elif isinstance(part, msgspec.Struct) and type(part) is type(whole):
        yield from _in_turn(
            [(getattr(part, name), getattr(whole, name)) for name in part.__struct_fields__], names
        )
    elif isinstance(part, Enum | bool) or part is None:
        if part == whole:
            yield names
    elif type(part) is type(whole):
        yield names


def _in_turn(
    pairs: Sequence[tuple[object, object]], names: Mapping[str, str]
) -> Iterator[Mapping[str, str]]:
    """Yield the ways in which the first of each pair is in the second, by the same names."""
    if not pairs:
        yield names
        return
    for known in _occurrences(*pairs[0], names):
        yield from _in_turn(pairs[1:], known)
