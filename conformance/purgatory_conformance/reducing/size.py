"""Say which of two cases is the simpler one."""

from enum import Enum

import msgspec

from purgatory_conformance.generation.fields import Operations, parts, words_of
from purgatory_spec.operations import (
    Allocate,
    Announce,
    Answer,
    Construct,
    Lose,
    PollBeside,
    PollWhile,
)
from purgatory_spec.profiles import Configuration

_COST_OF_ACTION = 2
"""The operations that an action of a callback counts as: it is harder to follow than one."""

_COST_OF_SECOND_ENTRY = 3
"""A key given twice counts as this many further keys: other rules govern duplicate keys."""

_NOT_PLAIN_MS = 10
_NOT_PLAIN_BYTES = 1000
"""A number that other rules govern counts as so much more: a failure of another rule shows with
plainer numbers too."""

_NOT_A_PLAIN_NAME = 10_000
"""A name that is no letter with a number counts as one that comes so late, and by its length."""


def size(configuration: Configuration, operations: Operations) -> tuple[int, ...]:
    """Return how simple a case is: the smaller the simpler.

    Operations and actions count first, then keys and tries, unusual choices, numbers, and names.
    """
    structs = list(parts(operations))
    actions = sum(struct.__struct_config__.tag_field == "do" for struct in structs)
    most = most_bytes(configuration)
    return (
        len(operations) + _COST_OF_ACTION * actions,
        sum(map(_entries, structs)),
        sum(map(_choices, structs)) + _unusual(configuration),
        sum(_numbers(struct, most) for struct in (configuration, *structs)),
        sum(_rank(word) for _, word in words_of(operations)),
    )


def most_bytes(configuration: Configuration) -> int:
    """Return the largest request of a pool or a server, bytes; 0 where nothing is requested."""
    names = ("max_single_bytes", "max_request_bytes")
    return next((getattr(configuration, name) for name in names if hasattr(configuration, name)), 0)


def defaults(struct: msgspec.Struct) -> dict[str, object]:
    """Return the fields that have a default value, with that value."""
    values = struct.__struct_defaults__
    return (
        dict(zip(struct.__struct_fields__[-len(values) :], values, strict=True)) if values else {}
    )


def _entries(struct: msgspec.Struct) -> int:
    """Return how many keys and tries a watch has."""
    keys = getattr(struct, "keys", ())
    seconds = len(keys) - len(set(keys))
    return len(keys) + seconds * _COST_OF_SECOND_ENTRY + len(getattr(struct, "tries", ()))


def _choices(struct: msgspec.Struct) -> int:
    """Return how many choices of an operation are not the plain ones."""
    plain = defaults(struct)
    chosen = sum(
        isinstance(getattr(struct, name), Enum | bool) and getattr(struct, name) is not value
        for name, value in plain.items()
    )
    chosen += getattr(struct, "tries", ()).count(Answer.THROW_SEVERE)
    return chosen + isinstance(struct, PollWhile | PollBeside) + 2 * isinstance(struct, Lose)


def _unusual(configuration: Configuration) -> int:
    """Return how many choices of a configuration are not the plain ones."""
    plain = defaults(configuration)
    given = {name: getattr(configuration, name) for name in plain}
    switched = sum(isinstance(each, bool) and each is not plain[n] for n, each in given.items())
    limits = sum(bool(given.get(name)) for name in ("idle_limit_ms", "receive_limit_ms"))
    ticks = int(getattr(configuration, "tick_ms", 1) > 1)
    start_ms = getattr(configuration, "start_ms", 0)
    return switched + limits + ticks + (2 if start_ms < 0 else int(start_ms > 0))


def _numbers(struct: msgspec.Struct, most: int) -> int:
    """Return the sum of all numbers, with a supplement for those that other rules govern."""
    total = 0
    for name in struct.__struct_fields__:
        number = getattr(struct, name)
        if isinstance(number, int) and not isinstance(number, bool):
            total += abs(number)
            if name == "delay_ms":
                total += _NOT_PLAIN_MS * (number < 1)
            elif name == "tick_ms":
                total += 2 * _NOT_PLAIN_MS * (number > 1)
            elif isinstance(struct, Construct):
                total += _NOT_PLAIN_BYTES * (number < 1)
            elif isinstance(struct, Allocate | Announce) and name == "size_bytes":
                total += _NOT_PLAIN_BYTES * (not 1 <= number <= most)
    return total


def is_plain(word: str) -> bool:
    """Decide whether a name is a letter, with a number or without."""
    return word.isascii() and word[:1].islower() and (word[1:].isdecimal() or len(word) == 1)


def _rank(word: str) -> int:
    """Return how late a name comes among plain names, a key among keys; others come after all."""
    if not is_plain(word.partition("#")[0]):
        return _NOT_A_PLAIN_NAME + len(word)
    return int(word[1:]) if word[1:].isdecimal() else ord(word[0]) - ord("a")
