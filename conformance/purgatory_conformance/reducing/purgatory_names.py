"""The names and keys that a purgatory's case uses, and how to replace them."""

from collections.abc import Callable, Iterator

from purgatory_spec.operations import (
    CallbackAction,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Force,
    ForceInside,
    Operation,
    Satisfy,
    Script,
    Throw,
    Watch,
    WatchInside,
)


def with_words(operation: Operation, words: dict[str, str]) -> Operation:
    """The operation with names and keys replaced."""

    def other(word: str) -> str:
        return words.get(word, word)

    match operation:
        case Watch(name, keys, delay_ms, script):
            changed = Script(
                script.tries,
                tuple(_action_with(action, other) for action in script.on_complete),
                tuple(_action_with(action, other) for action in script.on_expiration),
            )
            return Watch(other(name), tuple(map(other, keys)), delay_ms, changed)
        case Check(key):
            return Check(other(key))
        case CancelForKey(key):
            return CancelForKey(other(key))
        case Force(name):
            return Force(other(name))
        case Satisfy(name):
            return Satisfy(other(name))
        case _:
            return operation


def _action_with(action: CallbackAction, other: Callable[[str], str]) -> CallbackAction:
    match action:
        case WatchInside(name, keys, delay_ms):
            return WatchInside(other(name), tuple(map(other, keys)), delay_ms)
        case CheckInside(key):
            return CheckInside(other(key))
        case CancelForKeyInside(key):
            return CancelForKeyInside(other(key))
        case ForceInside(name):
            return ForceInside(other(name))
        case Throw():
            return action


def parts(operations: tuple[Operation, ...]) -> Iterator[Operation | CallbackAction]:
    """The operations, each with the actions of its script."""
    for operation in operations:
        yield operation
        if isinstance(operation, Watch):
            yield from operation.script.on_complete
            yield from operation.script.on_expiration


def names_of(operations: tuple[Operation, ...]) -> Iterator[str]:
    """Every name of an operation, as often as it is used."""
    for part in parts(operations):
        match part:
            case Watch(name) | Force(name) | Satisfy(name) | WatchInside(name) | ForceInside(name):
                yield name


def keys_of(operations: tuple[Operation, ...]) -> Iterator[str]:
    """Every key, as often as it is used."""
    for part in parts(operations):
        match part:
            case Watch(_, keys) | WatchInside(_, keys):
                yield from keys
            case Check(key) | CancelForKey(key) | CheckInside(key) | CancelForKeyInside(key):
                yield key


def rank(word: str) -> int:
    """How late a name comes among names, a key among keys."""
    number = word[1:]
    return int(number) if number.isdigit() else ord(word[0]) - ord("a")
