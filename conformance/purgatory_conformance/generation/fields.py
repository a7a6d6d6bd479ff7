"""Change the fields of operations and of the actions in their scripts, by the names of the fields.

What a field means follows from its name, for all operations: ``to_ms`` is a time, ``delay_ms`` a
span, ``keys`` are keys, and every other string names a task, an operation, a buffer or a channel.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import msgspec
from msgspec import structs

from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import Answer, Operation, Script, Throw, ThrowSort

AnOperation = TypeVar("AnOperation", bound=Operation)
StructT = TypeVar("StructT", bound=msgspec.Struct)
Operations = tuple[Operation, ...]
Change = Callable[[msgspec.Struct], Mapping[str, object]]
"""Returns the fields of an operation, an action or a script that change, with their values."""


def parts(value: object) -> Iterator[msgspec.Struct]:
    """Yield the operations, scripts and actions in a value, each before its own parts."""
    if isinstance(value, tuple):
        for each in value:
            yield from parts(each)
    elif isinstance(value, msgspec.Struct):
        yield value
        for name in value.__struct_fields__:
            yield from parts(getattr(value, name))


def changed(struct: StructT, change: Change) -> StructT:
    """Return the struct with a change made to it and to all its parts."""
    fields: dict[str, object] = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, tuple | msgspec.Struct):
            fields[name] = _changed(value, change)
    fields |= change(struct)
    return structs.replace(struct, **fields) if fields else struct


def _changed(value: object, change: Change) -> object:
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in value)
    return changed(value, change) if isinstance(value, msgspec.Struct) else value


def all_changed(operations: Operations, change: Change) -> Operations:
    """Return the operations with a change made to each and to its actions."""
    return tuple(changed(operation, change) for operation in operations)


def in_both_sorts(operation: AnOperation, source: Source) -> AnOperation:
    """Return the operation with exceptions of a sort that is drawn, where its script throws."""
    script = getattr(operation, "script", ())
    tries = script.tries if isinstance(script, Script) else ()
    throws = Answer.THROW in tries or any(isinstance(each, Throw) for each in parts(script))
    return changed(operation, _made_severe) if throws and source.integer(0, 1) else operation


def _made_severe(struct: msgspec.Struct) -> Mapping[str, object]:
    if isinstance(struct, Throw):
        return {"sort": ThrowSort.SEVERE}
    if isinstance(struct, Script):
        severe = Answer.THROW_SEVERE
        return {"tries": tuple(severe if each.throws else each for each in struct.tries)}
    return {}


def of_numbers(change: Callable[[int], int], *names: str) -> Change:
    """Return the change of the numbers in the fields of these names."""
    return lambda struct: {
        name: change(getattr(struct, name)) for name in names if hasattr(struct, name)
    }


def of_words(words: Mapping[str, str]) -> Change:
    """Return the change of names and keys into others; that of a channel changes its requests'."""

    def changed_word(word: str) -> str:
        channel, mark, number = word.partition("#")
        return words.get(channel, channel) + mark + number

    def change(struct: msgspec.Struct) -> Mapping[str, object]:
        fields: dict[str, object] = {name: changed_word(word) for name, word in named(struct)}
        keys = getattr(struct, "keys", None)
        return fields if keys is None else fields | {"keys": tuple(words.get(k, k) for k in keys)}

    return change


def of_delays(name: str, delay_ms: int) -> Change:
    """Return the change that gives a task or a delayed operation this delay wherever it has one."""

    def change(struct: msgspec.Struct) -> Mapping[str, object]:
        has_delay = hasattr(struct, "delay_ms") and name_of(struct) == name
        return {"delay_ms": delay_ms} if has_delay else {}

    return change


def named(struct: msgspec.Struct) -> Iterator[tuple[str, str]]:
    """Yield the fields that hold a name or a key, with the word in each."""
    for field in struct.__struct_fields__:
        value = getattr(struct, field)
        if isinstance(value, str):
            yield field, value


def name_of(struct: msgspec.Struct) -> str:
    """Return the name that an operation or an action is about; empty for a key and for none."""
    return next((word for field, word in named(struct) if field != "key"), "")


def words_of(value: object) -> Iterator[tuple[bool, str]]:
    """Yield every name and key as often as it stands in a value, with whether it is a key."""
    for part in parts(value):
        for field, word in named(part):
            yield field == "key", word
        for key in getattr(part, "keys", ()):
            yield True, key
