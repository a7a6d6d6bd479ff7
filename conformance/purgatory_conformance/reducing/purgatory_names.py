"""The names and keys that a purgatory's case uses, and how to replace them."""

from collections.abc import Callable, Iterator

from purgatory_spec.operations import (
    CallbackAction,
    CallInside,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Force,
    ForceInside,
    Meanwhile,
    Operation,
    Satisfy,
    SatisfyInside,
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
                _actions_with(script.on_complete, other),
                _actions_with(script.on_expiration, other),
                tuple(_actions_with(actions, other) for actions in script.on_try),
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


def _actions_with(
    actions: tuple[CallbackAction, ...], other: Callable[[str], str]
) -> tuple[CallbackAction, ...]:
    return tuple(_action_with(action, other) for action in actions)


def _action_with(action: CallbackAction, other: Callable[[str], str]) -> CallbackAction:
    match action:
        case Throw():
            return action
        case SatisfyInside(name):
            return SatisfyInside(other(name))
        case Meanwhile(call):
            return Meanwhile(_call_with(call, other))
        case _:
            return _call_with(action, other)


def _call_with(call: CallInside, other: Callable[[str], str]) -> CallInside:
    match call:
        case WatchInside(name, keys, delay_ms):
            return WatchInside(other(name), tuple(map(other, keys)), delay_ms)
        case CheckInside(key):
            return CheckInside(other(key))
        case CancelForKeyInside(key):
            return CancelForKeyInside(other(key))
        case ForceInside(name):
            return ForceInside(other(name))


def parts(operations: tuple[Operation, ...]) -> Iterator[Operation | CallbackAction]:
    """The operations, each with the actions of its script."""
    for operation in operations:
        yield operation
        if isinstance(operation, Watch):
            for actions in operation.script.callbacks:
                for action in actions:
                    yield action.call if isinstance(action, Meanwhile) else action


def names_of(operations: tuple[Operation, ...]) -> Iterator[str]:
    """Every name of an operation, as often as it is used."""
    for part in parts(operations):
        match part:
            case Watch(name) | Force(name) | Satisfy(name):
                yield name
            case WatchInside(name) | ForceInside(name) | SatisfyInside(name):
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
