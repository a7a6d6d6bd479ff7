"""Propose simpler cases: fields made plainer, time taken out, scripts told from outside.

Each proposal is simpler in a single respect and may be larger in another, or make no sense for the
subject: ``size`` and ``usable`` decide. Operations left out are proposed by ``running.shrinking``.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import TypeVar

import msgspec
from msgspec import structs

from purgatory_conformance.generation.fields import (
    Operations,
    StructT,
    all_changed,
    name_of,
    named,
    of_delays,
    of_numbers,
    of_words,
    parts,
    words_of,
)
from purgatory_conformance.reducing.size import defaults, is_plain, most_bytes
from purgatory_model.channel_muting import SIZE_BYTES, channel_of
from purgatory_spec import operations as op
from purgatory_spec.profiles import Configuration, Profile, PurgatoryFeature

Proposal = tuple[Configuration, Operations]
ValueT = TypeVar("ValueT")
Action = op.Action | op.CallbackAction

_PLAIN = {"tick_ms": (1, 2), "wheel_size": (2, 3), "idle_limit_ms": (0,), "receive_limit_ms": (0,)}
"""The plain numbers of a configuration; a number that is not named gets smaller."""

_SIZES = (("size_bytes", "max_single_bytes"), ("limit_bytes", "max_request_bytes"))
_SMALL = ((1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (4, 4), (10, 4), (10, 10))
_LARGE_MS = 64
"""A time above which many times are large together."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def simpler(
    profile: Profile, configuration: Configuration, operations: Operations
) -> Iterator[Proposal]:
    """Yield simpler cases, beyond those with single operations left out."""
    yield from _with_plainer_configurations(configuration, operations)
    yield from _with_smaller_sizes(configuration, operations)
    yield from _with_less_that_counts(configuration, operations)
    for other in chain(
        _sent_together(operations),
        in_less_time(configuration, operations),
        _with_positive_delays(operations),
        _with_large_times_lowered(operations),
        _with_plainer_fields(operations, most_bytes(configuration)),
        _with_fewer_keys(operations),
        _out_of_scripts(operations),
        _thrown_by_tries(operations),
        _apart(operations),
        _renamed(operations),
        _with_force(operations) if PurgatoryFeature.FORCE in profile.features else (),
    ):
        yield configuration, other


# The configuration, and operations that follow it


def _with_plainer_configurations(
    given: Configuration, operations: Operations
) -> Iterator[Proposal]:
    pairs = [name for pair in _SIZES for name in pair]
    for name, plain in defaults(given).items():
        value = getattr(given, name)
        if isinstance(value, bool):
            if value is not plain:
                yield structs.replace(given, **{name: plain}), operations
        elif name not in pairs:
            for number in _PLAIN.get(name, tuple(smaller(value))):
                if abs(number) < abs(value):
                    by_ms = number - value if name == "start_ms" else 0
                    yield structs.replace(given, **{name: number}), _later(operations, by_ms)
    tick_ms, start_ms = getattr(given, "tick_ms", 1), getattr(given, "start_ms", 0)
    if tick_ms > 1:
        scaled = all_changed(operations, of_numbers(lambda ms: ms // tick_ms, "to_ms", "delay_ms"))
        yield structs.replace(given, tick_ms=1, start_ms=start_ms // tick_ms), scaled
        # What is due within the tick that has begun is due by its end with any tick.
        by_its_end = all_changed(operations, of_numbers(lambda ms: ms + tick_ms - 1, "to_ms"))
        yield structs.replace(given, tick_ms=1), by_its_end
    # By a whole turn of a high level: every reading keeps its place in all levels below.
    turn_ms = tick_ms * getattr(given, "wheel_size", 1) ** 4
    by_ms = turn_ms * -(start_ms // turn_ms)
    if by_ms:
        yield structs.replace(given, start_ms=start_ms + by_ms), _later(operations, by_ms)


def _with_smaller_sizes(given: Configuration, operations: Operations) -> Iterator[Proposal]:
    """Yield a smaller pool or server, with requests that are as large for it, and with the same."""
    for whole, single in _SIZES:
        if not hasattr(given, whole):
            continue
        size, most = getattr(given, whole), getattr(given, single)
        halves = (max(1, size // 2), max(1, most // 2))
        for less, single_less in (*_SMALL, (most, most), halves, (size - 1, min(most, size - 1))):
            if 1 <= single_less <= less <= size and (less, single_less) != (size, most):
                smaller_one = structs.replace(given, **{whole: less, single: single_less})
                yield smaller_one, tuple(_fitted(each, most, single_less) for each in operations)
                yield smaller_one, operations
                for all_bytes, fewer_bytes in ((most, single_less), (size, less)):
                    yield (
                        smaller_one,
                        tuple(_scaled(o, all_bytes, fewer_bytes, single_less) for o in operations),
                    )


def _fitted(operation: op.Operation, most: int, smaller_most: int) -> op.Operation:
    """Return a request as large for the smaller pool as the original for the larger one."""
    if not isinstance(operation, op.Allocate | op.Announce):
        return operation
    size = operation.size_bytes
    if size > most:
        return _sized(operation, smaller_most + 1, smaller_most)
    is_full = size > smaller_most or (size == most and isinstance(operation, op.Allocate))
    return _sized(operation, smaller_most, smaller_most) if is_full else operation


def _scaled(operation: op.Operation, size: int, less: int, smaller_most: int) -> op.Operation:
    """Return a request that takes the same share of ``less`` bytes as of ``size``, rounded up."""
    if not isinstance(operation, op.Allocate | op.Announce) or operation.size_bytes < 1:
        return operation
    return _sized(operation, -(-operation.size_bytes * less // size), smaller_most)


def _sized(
    request: op.Allocate | op.Announce, size_bytes: int, most: int
) -> op.Allocate | op.Announce:
    """Return the request with another size; one that was sent to its end still is."""
    if isinstance(request, op.Allocate):
        return structs.replace(request, size_bytes=size_bytes)
    is_whole = request.sent_bytes == SIZE_BYTES + request.size_bytes
    largest = SIZE_BYTES + (size_bytes if 0 <= size_bytes <= most else 0)
    sent_bytes = largest if is_whole else min(request.sent_bytes, largest)
    return op.Announce(request.channel, size_bytes, sent_bytes)


def _with_less_that_counts(given: Configuration, operations: Operations) -> Iterator[Proposal]:
    """Yield cases without a name or an entry, and with a limit that is lower by as much.

    Neither change keeps a failure by itself that depends on reaching the limit exactly.
    """
    for name in dict.fromkeys(filter(None, map(_subject_of, operations))):
        kept = tuple(each for each in operations if _subject_of(each) != name)
        yield given, kept
        sizes = [getattr(each, "size_bytes", 0) for each in operations if each not in kept]
        yield from _lowered(given, kept, max(sizes))
    for index, watch in enumerate(operations):
        if isinstance(watch, op.Watch) and len(watch.keys) > 1:
            for keys in _with_one_less(watch.keys):
                fewer = structs.replace(watch, keys=keys)
                yield from _lowered(
                    given, (*operations[:index], fewer, *operations[index + 1 :]), 0
                )


def _lowered(given: Configuration, operations: Operations, bytes_less: int) -> Iterator[Proposal]:
    interval = getattr(given, "purge_interval", 0)
    if interval > 0:
        yield structs.replace(given, purge_interval=interval - 1), operations
    for whole, _ in _SIZES:
        size = getattr(given, whole, 0)
        less = max(most_bytes(given), size - bytes_less)
        if less < size:
            yield structs.replace(given, **{whole: less}), operations


def _subject_of(operation: op.Operation) -> str:
    """Return the task, the delayed operation, the buffer or the channel of an operation."""
    return channel_of(name_of(operation))


# Times


def in_less_time(given: Configuration, operations: Operations) -> Iterator[Operations]:
    """Yield cases in which a span is shorter: what comes later moves with it, or stays.

    A span is what the clock moves on by, or a delay. Where the clock does not move on at all,
    later delays may make up for it. It may move on to what is due, or to just before.
    """
    now_ms = getattr(given, "start_ms", 0)
    expiries_ms: set[int] = set()
    for index, operation in enumerate(operations):
        before, after = operations[:index], operations[index + 1 :]
        marked: list[int] = []
        if isinstance(operation, op.Advance | op.Elapse):
            span_ms = operation.to_ms - now_ms
            ends = sorted({end for expiry in expiries_ms for end in (expiry - 1, expiry)})
            marked = [end - now_ms for end in ends if now_ms < end < operation.to_ms]
            now_ms = operation.to_ms
            yield before + tuple(_with_span(each, span_ms, "delay_ms") for each in after)
        elif isinstance(operation, op.Add | op.Watch):
            span_ms = operation.delay_ms
            expiries_ms.add(now_ms + span_ms)
        else:
            continue
        rests = (*marked, *_plainer_delays(span_ms), *_less_whole_turns(span_ms, given))
        for rest_ms in dict.fromkeys(rests):
            by_ms = rest_ms - span_ms
            shorter = _with_span(operation, by_ms, "to_ms", "delay_ms")
            yield (*before, shorter, *_later(after, by_ms))
            yield (*before, shorter, *after)
            if isinstance(operation, op.Add | op.Watch):
                everywhere = of_delays(name_of(operation), rest_ms)
                yield all_changed((*before, shorter, *_later(after, by_ms)), everywhere)
                yield all_changed((*before, shorter, *after), everywhere)


def _with_positive_delays(operations: Operations) -> Iterator[Operations]:
    """Yield the case a little later where a delay is zero or less: other rules govern these."""
    delays = [getattr(part, "delay_ms", 1) for part in parts(operations)]
    least_ms = min(delays, default=1)
    if least_ms < 1:
        later = of_numbers(lambda ms: ms + 1 - least_ms, "to_ms", "delay_ms")
        yield all_changed(operations, later)


def _with_large_times_lowered(operations: Operations) -> Iterator[Operations]:
    """Yield cases in which all times from one on are lowered by as much, so that they keep apart.

    The rest keeps the place of the lowest one in a tick, and in the lowest levels.
    """
    times = {getattr(part, name, 0) for part in parts(operations) for name in ("to_ms", "delay_ms")}
    for least_ms in sorted(times):
        by_ms = least_ms - least_ms % _LARGE_MS
        if by_ms > 0:
            lower = partial(_lowered_from, least_ms, by_ms)
            yield all_changed(operations, of_numbers(lower, "to_ms", "delay_ms"))


def _lowered_from(least_ms: int, by_ms: int, time_ms: int) -> int:
    return time_ms - by_ms if time_ms >= least_ms else time_ms


def _with_span(operation: op.Operation, by_ms: int, *names: str) -> op.Operation:
    return structs.replace(operation, **of_numbers(lambda ms: ms + by_ms, *names)(operation))


def _later(operations: Operations, by_ms: int) -> Operations:
    return all_changed(operations, of_numbers(lambda ms: ms + by_ms, "to_ms"))


def _less_whole_turns(time_ms: int, given: Configuration) -> Iterator[int]:
    """Yield shorter times, shortest first, that end at the same place of a tick or of a level."""
    turn_ms, wheel_size = getattr(given, "tick_ms", 0), getattr(given, "wheel_size", 0)
    turns: list[int] = []
    while wheel_size and turn_ms < time_ms:
        turns.append(turn_ms)
        turn_ms *= wheel_size
    yield from (time_ms % turn for turn in turns)
    yield from (time_ms - turn for turn in reversed(turns))


# Fields


def _with_plainer_fields(operations: Operations, most: int) -> Iterator[Operations]:
    for index, operation in enumerate(operations):
        for plainer in _plainer(operation, most):
            if isinstance(operation, op.Announce) and isinstance(plainer, op.Announce):
                # Plainer in its size alone, it may promise more than it sends, or less.
                yield (
                    *operations[:index],
                    _sized(operation, plainer.size_bytes, most),
                    *operations[index + 1 :],
                )
            yield (*operations[:index], plainer, *operations[index + 1 :])


def _plainer(struct: StructT, most: int) -> Iterator[StructT]:
    """Yield an operation, an action or a script with one field, or a part of one, made plainer."""
    plain = defaults(struct)
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if name in plain and value != plain[name]:
            yield structs.replace(struct, **{name: plain[name]})
        for other in _plainer_values(struct, name, value, most):
            yield structs.replace(struct, **{name: other})


def _plainer_values(
    struct: msgspec.Struct, name: str, value: object, most: int
) -> Iterator[object]:
    if isinstance(value, msgspec.Struct):
        yield from _plainer(value, most)
    elif isinstance(value, tuple):
        yield from _with_one_less(value) if name != "keys" or len(value) > 1 else ()
        for index, each in enumerate(value):
            for other in _plainer_values(struct, "", each, most):
                yield (*value[:index], other, *value[index + 1 :])
    elif value is op.Answer.THROW_SEVERE:
        yield op.Answer.THROW
    elif isinstance(value, int):
        match name:
            case "delay_ms" if not isinstance(struct, op.Add | op.Watch):
                yield from _plainer_delays(value)
            case "size_bytes" | "max_single_bytes":
                yield from dict.fromkeys((1, 2, most, most // 2, *smaller(value), most + 1))
            case "sent_bytes":
                yield from (SIZE_BYTES, 1, *(number for number in smaller(value) if number))


def _plainer_delays(delay_ms: int) -> Iterator[int]:
    """Yield plainer delays: an ordinary one for zero and below, where rules of their own begin."""
    if delay_ms <= 0:
        yield from (1, 2, 3)
    yield from smaller(delay_ms)


def smaller(number: int) -> Iterator[int]:
    """Yield numbers of the same sign that are nearer to nought, the smallest first.

    Each step is a fraction of the one before, so that a bound of 40 bits is met in dozens of runs.
    """
    sign, size = (-1 if number < 0 else 1), abs(number)
    steps = (size >> bits for bits in (1, 3, 6, 10, 15, 21, 28, 36))
    for less in dict.fromkeys((0, 1, *(size - step for step in steps), size - 1)):
        if 0 <= less < size:
            yield sign * less


def _with_one_less(values: tuple[ValueT, ...]) -> Iterator[tuple[ValueT, ...]]:
    return (values[:index] + values[index + 1 :] for index in range(len(values)))


# Keys and names


def _with_fewer_keys(operations: Operations) -> Iterator[Operations]:
    """Yield cases with a key left out of all operations, or merged with another."""
    keys = sorted({key for watch in operations for key in getattr(watch, "keys", ())})
    for key in keys:
        others = tuple(each for each in operations if getattr(each, "key", None) != key)
        yield tuple(_without_key(each, key) for each in others)
        for other in keys:
            if other < key:
                yield all_changed(operations, of_words({key: other}))


def _without_key(operation: op.Operation, key: str) -> op.Operation:
    kept = tuple(each for each in getattr(operation, "keys", ()) if each != key)
    return structs.replace(operation, keys=kept) if kept else operation


def _sent_together(operations: Operations) -> Iterator[Operations]:
    """Yield the operations with a part of a request sent together with the part before it."""
    before: dict[str, int] = {}
    for index, operation in enumerate(operations):
        if not isinstance(operation, op.Announce | op.Send):
            continue
        if isinstance(operation, op.Send) and operation.channel in before:
            place = before[operation.channel]
            part = operations[place]
            assert isinstance(part, op.Announce | op.Send)
            both = structs.replace(part, sent_bytes=part.sent_bytes + operation.sent_bytes)
            between = operations[place + 1 : index]
            yield (*operations[:place], both, *between, *operations[index + 1 :])
        before[operation.channel] = index


def _renamed(operations: Operations) -> Iterator[Operations]:
    """Yield the case with plain names and keys in the order in which they appear.

    Where keys or other than plain names stand; else the names of the table are as plain.
    """
    keys = dict.fromkeys(word for is_key, word in words_of(operations) if is_key)
    names: dict[str, str] = {}
    for part in parts(operations):
        for field, word in named(part):
            if field != "key":
                channel, mark, _ = word.partition("#")
                letter = "c" if mark else field[0]
                names.setdefault(channel, f"{letter}{len(names) + 1}")
    if (keys or not all(map(is_plain, names))) and len(keys) <= len(_LETTERS):
        yield all_changed(operations, of_words(names | dict(zip(keys, _LETTERS, strict=False))))


# Other operations


def _out_of_scripts(operations: Operations) -> Iterator[Operations]:
    """Yield cases in which an action is done from outside, at a later place or for a later run."""
    for index, operation in enumerate(operations):
        for left, action in _without_actions(operation):
            outside = op.from_outside(action)
            if outside is None:
                continue
            others = (*operations[:index], left, *operations[index + 1 :])
            for at in range(index + 1, len(others) + 1):
                if at < len(others) and isinstance(others[at], op.RunOne):
                    yield (*others[:at], outside, *others[at + 1 :])
                yield (*others[:at], outside, *others[at:])


def _without_actions(struct: StructT) -> Iterator[tuple[StructT, Action]]:
    """Yield an operation or a script without one of its actions, and that action."""
    for name in struct.__struct_fields__:
        for left, action in _actions_out_of(getattr(struct, name)):
            yield structs.replace(struct, **{name: left}), action


def _actions_out_of(value: object) -> Iterator[tuple[object, Action]]:
    if isinstance(value, op.Script):
        yield from _without_actions(value)
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            if isinstance(each, Action):
                yield value[:index] + value[index + 1 :], each
            for left, action in _actions_out_of(each):
                yield (*value[:index], left, *value[index + 1 :]), action


def _thrown_by_tries(operations: Operations) -> Iterator[Operations]:
    """Yield cases in which a try throws, in place of the callback of its completion."""
    for index, watch in enumerate(operations):
        script = getattr(watch, "script", None)
        if isinstance(script, op.Script) and op.Throw() in script.on_complete:
            tries = tuple(
                op.Answer.THROW if answer is op.Answer.COMPLETE else answer
                for answer in script.tries
            )
            thrown = structs.replace(script, tries=tries, on_complete=())
            yield (
                *operations[:index],
                structs.replace(watch, script=thrown),
                *operations[index + 1 :],
            )


def _apart(operations: Operations) -> Iterator[Operations]:
    """Yield cases with the plain operations in place of an operation that is two at once."""
    for index, operation in enumerate(operations):
        plain: Operations = ()
        match operation:
            case op.PollWhile(request):
                plain = (op.Release(request), op.Poll())
            case op.PollBeside():
                plain = (op.Poll(),)
            case op.Lose(buffer):
                plain = (op.Release(buffer),)
        if plain:
            yield (*operations[:index], *plain, *operations[index + 1 :])


def _with_force(operations: Operations) -> Iterator[Operations]:
    """Yield cases with an operation forced, in place of being satisfied and found by a check."""
    for index, satisfy in enumerate(operations):
        if isinstance(satisfy, op.Satisfy):
            for at in range(index + 1, len(operations)):
                if isinstance(operations[at], op.Check):
                    between = operations[index + 1 : at]
                    force = op.Force(satisfy.operation)
                    yield (*operations[:index], *between, force, *operations[at + 1 :])
