"""A case without what one declared feature lets the suite ask."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from purgatory_spec.operations import (
    Action,
    Add,
    AddInside,
    Answer,
    CallbackAction,
    Lose,
    Meanwhile,
    Operation,
    Release,
    ReleaseForm,
    SatisfyInside,
    Watch,
    operation_name,
)

AnAction = TypeVar("AnAction", bound=Action | CallbackAction)

_ADDING_AGAIN = frozenset({"readd", "change_delay"})


def without(feature: str, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return the operations without those, or the parts of scripts, that need a feature."""
    return tuple(_kept(feature, operations))


def _kept(feature: str, operations: Sequence[Operation]) -> Iterator[Operation]:
    delays: dict[str, int] = {}
    watched: set[str] = set()
    returned: set[str] = set()
    for operation in operations:
        if feature == operation_name(operation):
            continue
        match operation:
            case Add(task, delay_ms, script):
                changes = task in delays and delays[task] != delay_ms
                if task in delays and (
                    feature == "readd" or (feature == "change_delay" and changes)
                ):
                    continue
                delays.setdefault(task, delay_ms)
                if feature in _ADDING_AGAIN:
                    script = tuple(a for a in script if not isinstance(a, AddInside))
                yield msgspec.structs.replace(operation, script=_actions(feature, script))
            case Watch(name):
                if feature == "rewatch" and name in watched:
                    continue
                watched.add(name)
                yield _watch(feature, operation)
            case Release(buffer, form):
                if feature == f"release_{form.value}":
                    continue
                if feature == "release_again" and buffer in returned:
                    continue
                if form is not ReleaseForm.COPY:
                    returned.add(buffer)
                yield operation
            case Lose() if feature == "leak_detection":
                continue
            case _:
                yield operation


def _actions(feature: str, script: tuple[AnAction, ...]) -> tuple[AnAction, ...]:
    return tuple(a for a in script if not _needs(a, feature))


def _needs(action: Action | CallbackAction, feature: str) -> bool:
    if isinstance(action, SatisfyInside):
        return feature == "script_try"
    if isinstance(action, Meanwhile) and feature == action.call.__struct_config__.tag:
        return True
    return feature == f"script_{action.__struct_config__.tag}"


def _watch(feature: str, watch: Watch) -> Watch:
    script = watch.script
    tries = script.tries
    if feature == "script_throw":
        tries = tuple(Answer.WAIT if a is Answer.THROW else a for a in tries)
    on_try = tuple(_actions(feature, actions) for actions in script.on_try)
    keys = tuple(dict.fromkeys(watch.keys)) if feature == "duplicate_keys" else watch.keys
    return msgspec.structs.replace(
        watch,
        keys=keys,
        script=msgspec.structs.replace(
            script,
            tries=tries,
            on_complete=_actions(feature, script.on_complete),
            on_expiration=_actions(feature, script.on_expiration),
            on_try=() if feature == "script_try" else on_try,
        ),
    )
