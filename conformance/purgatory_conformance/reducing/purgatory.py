"""Simpler cases of a purgatory: what may be left out of a case beside whole operations."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from purgatory_conformance.reducing.purgatory_names import (
    keys_of,
    names_of,
    parts,
    rank,
    with_words,
)
from purgatory_conformance.reducing.times import clock_goes_on, smaller
from purgatory_spec.operations import (
    Advance,
    CallbackAction,
    CancelForKey,
    CancelForKeyInside,
    Check,
    CheckInside,
    Elapse,
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
from purgatory_spec.profiles import (
    NegativeDelay,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
)

Actions = tuple[CallbackAction, ...]

_COST_OF_ACTION = 2
"""What a callback does is harder to follow than an operation: it counts as this many."""

_COST_OF_SECOND_ENTRY = 3
"""A key given twice counts as this many further keys: other rules govern duplicate keys."""

_MOST_LETTERS = 26
_NOT_PLAIN_MS = 10
"""A delay of zero counts as this, and a negative one, or a tick above 1 ms, as more."""


@dataclass(frozen=True, slots=True)
class PurgatoryCase:
    """The configuration of a purgatory and the operations to carry out under it."""

    configuration: PurgatoryConfiguration
    operations: tuple[Operation, ...]

    @property
    def size(self) -> tuple[int, ...]:
        """Smaller is simpler: operations and actions, keys and tries, names, numbers."""
        watches = [op for op in self.operations if isinstance(op, Watch)]
        actions = sum(len(acts) for watch in watches for acts in watch.script.callbacks)
        keys = sum(len(keys) + _seconds(keys) for keys in self._key_tuples())
        tries = sum(len(watch.script.tries) for watch in watches)
        given = self.configuration
        numbers = sum(_magnitude(operation) for operation in self.operations)
        numbers += given.purge_interval + given.wheel_size + abs(given.start_ms)
        numbers += given.tick_ms + (2 * _NOT_PLAIN_MS if given.tick_ms > 1 else 0)
        return (
            len(self.operations) + _COST_OF_ACTION * actions,
            keys + tries,
            0 if given.time_outs else 1,
            numbers,
            sum(map(rank, (*names_of(self.operations), *keys_of(self.operations)))),
        )

    def _key_tuples(self) -> Iterator[tuple[str, ...]]:
        for part in parts(self.operations):
            if isinstance(part, Watch | WatchInside):
                yield part.keys

    @property
    def has_negative_delay(self) -> bool:
        """Whether something is watched with a negative delay, from outside or from inside."""
        watches = (p for p in parts(self.operations) if isinstance(p, Watch | WatchInside))
        return min((each.delay_ms for each in watches), default=0) < 0

    def is_usable(self, profile: PurgatoryProfile) -> bool:
        """Whether a subject of this profile can be asked the case."""
        if not clock_goes_on(self.configuration.start_ms, self.operations):
            return False
        doubled = any(_seconds(keys) for keys in self._key_tuples())
        if doubled and PurgatoryFeature.DUPLICATE_KEYS not in profile.features:
            return False
        if profile.negative_delay is NegativeDelay.NOT_OFFERED and self.has_negative_delay:
            return False
        return _names_are_introduced(
            self.operations, may_rewatch=PurgatoryFeature.REWATCH in profile.features
        )


def simpler_purgatory_cases(
    profile: PurgatoryProfile, case: PurgatoryCase
) -> Iterator[PurgatoryCase]:
    """Simpler cases: in configuration, times, scripts, keys or operations."""
    yield from _simpler_configurations(case)
    yield from _with_less_to_purge(case)
    for operations in (
        *_with_simpler_watches(case.operations),
        *_with_fewer_keys(case.operations),
        *_out_of_scripts(case.operations),
        *_renamed(case.operations),
    ):
        yield replace(case, operations=operations)
    if PurgatoryFeature.FORCE in profile.features:
        for operations in _with_force(case.operations):
            yield replace(case, operations=operations)
    yield from _shorter_times(case)


def _simpler_configurations(case: PurgatoryCase) -> Iterator[PurgatoryCase]:
    given = case.configuration
    change = msgspec.structs.replace
    if not given.time_outs:
        yield replace(case, configuration=change(given, time_outs=True))
    for interval in smaller(given.purge_interval):
        yield replace(case, configuration=change(given, purge_interval=interval))
    if given.tick_ms > 1:
        yield replace(case, configuration=change(given, tick_ms=1))
        scaled = tuple(_scaled(op, given.tick_ms) for op in case.operations)
        start_ms = given.start_ms // given.tick_ms
        yield PurgatoryCase(change(given, tick_ms=1, start_ms=start_ms), scaled)
    if given.wheel_size > 2:
        yield replace(case, configuration=change(given, wheel_size=2))
    if given.start_ms:
        moved = tuple(_shifted(op, -given.start_ms) for op in case.operations)
        yield PurgatoryCase(change(given, start_ms=0), moved)


def _with_less_to_purge(case: PurgatoryCase) -> Iterator[PurgatoryCase]:
    """An entry or an operation less, and a purge interval smaller by 1: purges stay in place.

    Neither change keeps a failure by itself that depends on reaching the interval exactly.
    """
    interval = case.configuration.purge_interval
    if interval < 1:
        return
    lower = msgspec.structs.replace(case.configuration, purge_interval=interval - 1)
    for index, watch in enumerate(case.operations):
        if not isinstance(watch, Watch):
            continue
        before, after = case.operations[:index], case.operations[index + 1 :]
        rest = tuple(op for op in after if getattr(op, "operation", None) != watch.operation)
        yield PurgatoryCase(lower, before + rest)
        for keys in _with_one_less(watch.keys):
            fewer = msgspec.structs.replace(watch, keys=keys)
            yield PurgatoryCase(lower, (*before, fewer, *after))


def _with_simpler_watches(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    for index, operation in enumerate(operations):
        if not isinstance(operation, Watch):
            continue
        for simpler in _simpler_watches(operation):
            yield (*operations[:index], simpler, *operations[index + 1 :])


def _simpler_watches(watch: Watch) -> Iterator[Watch]:
    script, change = watch.script, msgspec.structs.replace
    if script != Script():
        yield change(watch, script=Script())
    for keys in _with_one_less(watch.keys):
        yield change(watch, keys=keys)
    for index in range(len(script.tries)):
        tries = script.tries[:index] + script.tries[index + 1 :]
        yield change(watch, script=change(script, tries=tries))
    for actions, with_actions in _callbacks(script):
        for simpler in _simpler_actions(actions):
            yield change(watch, script=with_actions(simpler))
    if script.on_try and not script.on_try[-1]:
        yield change(watch, script=change(script, on_try=script.on_try[:-1]))


def _callbacks(
    script: Script,
) -> Iterator[tuple[Actions, Callable[[Actions], Script]]]:
    """The actions of each callback, and the script with others in their place."""

    def tried(number: int, actions: Actions) -> Script:
        on_try = (*script.on_try[:number], actions, *script.on_try[number + 1 :])
        return msgspec.structs.replace(script, on_try=on_try)

    for number, actions in enumerate(script.on_try):
        yield actions, partial(tried, number)
    change = msgspec.structs.replace
    yield script.on_complete, lambda actions: change(script, on_complete=actions)
    yield script.on_expiration, lambda actions: change(script, on_expiration=actions)


def _with_one_less(keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for index in range(len(keys)):
        if len(keys) > 1:
            yield keys[:index] + keys[index + 1 :]


def _simpler_actions(
    actions: tuple[CallbackAction, ...],
) -> Iterator[tuple[CallbackAction, ...]]:
    for index, action in enumerate(actions):
        before, after = actions[:index], actions[index + 1 :]
        yield before + after
        if isinstance(action, WatchInside):
            for key in action.keys if len(action.keys) > 1 else ():
                yield (*before, WatchInside(action.operation, (key,), action.delay_ms), *after)
            if action.delay_ms != 1:
                yield (*before, WatchInside(action.operation, action.keys, 1), *after)


def _with_fewer_keys(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """A key left out of all watches and of all other operations; or two keys merged."""
    keys = sorted({key for op in operations if isinstance(op, Watch) for key in op.keys})
    for key in keys:
        yield tuple(_without_key(op, key) for op in operations if getattr(op, "key", None) != key)
        for other in keys:
            if other < key:
                yield tuple(with_words(op, {key: other}) for op in operations)


def _without_key(operation: Operation, key: str) -> Operation:
    if not isinstance(operation, Watch):
        return operation
    kept = tuple(each for each in operation.keys if each != key)
    return msgspec.structs.replace(operation, keys=kept) if kept else operation


def _out_of_scripts(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """What a callback does, done from outside at some later place."""
    for index, watch in enumerate(operations):
        if not isinstance(watch, Watch):
            continue
        for actions, with_actions in _callbacks(watch.script):
            for position, action in enumerate(actions):
                outside = _from_outside(action)
                if outside is None:
                    continue
                left = actions[:position] + actions[position + 1 :]
                changed = list(operations)
                changed[index] = msgspec.structs.replace(watch, script=with_actions(left))
                for at in range(index + 1, len(operations) + 1):
                    yield (*changed[:at], outside, *changed[at:])


def _from_outside(action: CallbackAction) -> Operation | None:
    match action:
        case WatchInside(name, keys, delay_ms):
            return Watch(name, keys, delay_ms)
        case CheckInside(key):
            return Check(key)
        case CancelForKeyInside(key):
            return CancelForKey(key)
        case ForceInside(name):
            return Force(name)
        case SatisfyInside(name):
            return Satisfy(name)
        case Meanwhile(call):
            return _from_outside(call)
        case Throw():
            return None


def _with_force(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """An operation forced, in place of being satisfied and found by a check."""
    for index, satisfy in enumerate(operations):
        if not isinstance(satisfy, Satisfy):
            continue
        for at in range(index + 1, len(operations)):
            if isinstance(operations[at], Check):
                between = operations[index + 1 : at]
                force = Force(satisfy.operation)
                yield (*operations[:index], *between, force, *operations[at + 1 :])


def _renamed(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    """Operations and keys named in the order in which they appear."""
    names = dict.fromkeys(names_of(operations))
    keys = dict.fromkeys(keys_of(operations))
    words = {name: f"o{number}" for number, name in enumerate(names, start=1)}
    words |= dict(zip(keys, "abcdefghijklmnopqrstuvwxyz", strict=False))
    if len(keys) <= _MOST_LETTERS:
        yield tuple(with_words(operation, words) for operation in operations)


def _shorter_times(case: PurgatoryCase) -> Iterator[PurgatoryCase]:
    """Take time out of a case: what comes later moves with it."""
    now = case.configuration.start_ms
    for index, operation in enumerate(case.operations):
        before, after = case.operations[:index], case.operations[index + 1 :]
        if isinstance(operation, Advance | Elapse):
            gap, now = operation.to_ms - now, operation.to_ms
            for rest in smaller(gap):
                moved = tuple(_shifted(op, rest - gap) for op in (operation, *after))
                yield replace(case, operations=before + moved)
                alone = (_shifted(operation, rest - gap), *after)
                yield replace(case, operations=before + alone)
        elif isinstance(operation, Watch):
            for rest in (*((1,) if operation.delay_ms < 1 else ()), *smaller(operation.delay_ms)):
                shorter = msgspec.structs.replace(operation, delay_ms=rest)
                by_ms = rest - operation.delay_ms
                sooner = tuple(_shifted(op, by_ms) for op in after)
                yield replace(case, operations=(*before, shorter, *sooner))
                yield replace(case, operations=(*before, shorter, *after))


def _shifted(operation: Operation, by_ms: int) -> Operation:
    match operation:
        case Advance(to_ms):
            return Advance(to_ms + by_ms)
        case Elapse(to_ms):
            return Elapse(to_ms + by_ms)
        case _:
            return operation


def _scaled(operation: Operation, tick_ms: int) -> Operation:
    """The operation with its times in ticks instead of milliseconds."""
    match operation:
        case Advance(to_ms):
            return Advance(to_ms // tick_ms)
        case Elapse(to_ms):
            return Elapse(to_ms // tick_ms)
        case Watch(_, _, delay_ms):
            return msgspec.structs.replace(operation, delay_ms=delay_ms // tick_ms)
        case _:
            return operation


def _names_are_introduced(operations: tuple[Operation, ...], *, may_rewatch: bool) -> bool:
    """Whether what is satisfied was watched before or may be, and so is what is watched again."""
    known: set[str] = set()
    for operation in operations:
        introduced: list[str] = []
        match operation:
            case Watch():
                watches = [p for p in parts((operation,)) if isinstance(p, Watch | WatchInside)]
                introduced = [each.operation for each in watches]
            case Satisfy(name) if name not in known:
                if not may_rewatch:
                    return False
                known.add(name)
            case Force(name):
                known.add(name)
        if not may_rewatch and any(name in known for name in introduced):
            return False
        known.update(introduced)
    return True


def _seconds(keys: tuple[str, ...]) -> int:
    return (len(keys) - len(set(keys))) * _COST_OF_SECOND_ENTRY


def _magnitude(operation: Operation) -> int:
    match operation:
        case Watch(_, _, delay_ms):
            return delay_ms if delay_ms > 0 else _NOT_PLAIN_MS - delay_ms
        case Advance(to_ms) | Elapse(to_ms):
            return abs(to_ms)
        case _:
            return 0
