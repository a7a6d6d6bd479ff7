"""A case without what one declared feature lets the suite ask."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from purgatory_spec import operations as op

AnAction = TypeVar("AnAction", bound=op.Action | op.CallbackAction)

_THROWING = frozenset({"script_throw", "script_throw_severe"})
_ADDING_AGAIN = frozenset({"readd", "change_delay"})


def without(feature: str, operations: Sequence[op.Operation]) -> tuple[op.Operation, ...]:
    """Return the operations without those, or the parts of scripts, that need a feature."""
    return tuple(_kept(feature, operations))


def _kept(feature: str, operations: Sequence[op.Operation]) -> Iterator[op.Operation]:
    delays: dict[str, int] = {}
    watched: set[str] = set()
    returned: set[str] = set()
    for operation in operations:
        if feature == op.operation_name(operation):
            continue
        match operation:
            case op.Add(task, delay_ms, script):
                changes = task in delays and delays[task] != delay_ms
                if task in delays and (
                    feature == "readd" or (feature == "change_delay" and changes)
                ):
                    continue
                delays.setdefault(task, delay_ms)
                if feature in _ADDING_AGAIN:
                    script = tuple(a for a in script if not isinstance(a, op.AddInside))
                yield msgspec.structs.replace(operation, script=_actions(feature, script))
            case op.Watch(name):
                if feature == "rewatch" and name in watched:
                    continue
                watched.add(name)
                yield _watch(feature, operation)
            case op.Release(buffer, form):
                if feature == f"release_{form.value}":
                    continue
                if feature == "release_again" and buffer in returned:
                    continue
                if form is not op.ReleaseForm.COPY:
                    returned.add(buffer)
                yield operation
            case op.Lose() if feature == "leak_detection":
                continue
            case op.Read() if feature == "fill":
                continue
            case op.Allocate(fail=True) if feature == "fail":
                continue
            case op.Advance(refuse=True) if feature == "refuse":
                yield msgspec.structs.replace(operation, refuse=False)
            case _:
                yield operation


def _actions(feature: str, script: tuple[AnAction, ...]) -> tuple[AnAction, ...]:
    if feature == "script_crosswise":
        return tuple(a for place, a in enumerate(script) if not _is_crosswise(script, place))
    return tuple(a for a in script if not _needs(a, feature))


def _is_crosswise(script: Sequence[op.Action | op.CallbackAction], place: int) -> bool:
    """Decide whether an action is a call behind one of another thread."""
    calls = not isinstance(script[place], op.Throw | op.SatisfyInside | op.Meanwhile)
    return calls and any(isinstance(before, op.Meanwhile) for before in script[:place])


def _needs(action: op.Action | op.CallbackAction, feature: str) -> bool:
    if isinstance(action, op.SatisfyInside):
        return feature == "script_try"
    if isinstance(action, op.Meanwhile) and feature == action.call.__struct_config__.tag:
        return True
    if isinstance(action, op.Throw) and action.sort is op.ThrowSort.SEVERE:
        return feature in _THROWING
    return feature == f"script_{action.__struct_config__.tag}"


def _watch(feature: str, watch: op.Watch) -> op.Watch:
    script = watch.script
    tries = script.tries
    if feature in _THROWING:
        kept = {op.Answer.THROW} if feature == "script_throw_severe" else set()
        tries = tuple(op.Answer.WAIT if a.throws and a not in kept else a for a in tries)
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
