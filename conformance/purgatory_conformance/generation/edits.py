"""Cases that are edited after they were drawn: another name, an extreme argument, a repetition.

Situations are written for what their authors thought of. An edit puts an operation where no
situation has it: on an object with another history, behind a shutdown, inside a callback, between a
step of the clock and the next look, or many times over. An edited case is kept where a subject of
the profile can be asked it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import structs

from purgatory_conformance.generation.fields import (
    Change,
    Operations,
    all_changed,
    changed,
    name_of,
    named,
    of_numbers,
    of_words,
    words_of,
)
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import channel_of
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.profiles import Feature as _Timer
from purgatory_spec.profiles import PurgatoryFeature as _Purgatory

_MOST_EDITS = 3
_MOST_REPEATED = 4
"""The longest sequence of operations that is repeated."""

_REPETITIONS = (2, 2, 3, 10, 20, 40, 300)
_MOST_REPEATED_MS = 2**21
"""The time that repetitions may take, ms: a timer may go through it tick by tick."""

_MOST_OPERATIONS = 700
"""The length up to which a repetition makes a case."""

_MOST_AT_ONCE = 3
"""The number of channels of which one poll sees more than before: they may come in any order."""

_MOST_CONNECTED = 12
"""The number of channels that a repetition connects."""

_MOST_OF_SEVERAL = 40
"""The number of repetitions of several calls of a purgatory: each check passes the whole list."""

_MANY_KEYS = 8

_MOST_SCRIPTS = 3
"""The number of repetitions of many keys, or of a script: callbacks need room on the stack."""

_SPANS_MS = tuple(
    power // unit + more
    for power in (2**31, 2**32, 2**53, 2**63, 2**64)
    for unit in (1, 10**3, 10**6)
    for more in (-1, 0, 1)
)
"""Delays about the limits of integers and of floats, in units down to nanoseconds, ms."""

_SIZES_BYTES = tuple(
    power + more for power in (2**8, 2**12, 2**13, 2**14, 2**15, 2**16) for more in (-1, 0, 1)
)
"""Sizes about those of pages, of records, and of short integers, bytes."""

_BEYOND_BYTES = (-1, -(2**31), 2**16 + 1, 2**24 + 1, 2**31 - 1)
"""Sizes that are legal in their lower bits alone, bytes."""

_AGES_MS = (2**31 - 5, 2**32 - 5, 2**32 + 5, 10**10)

_Edit = Callable[[Operations, profiles.Profile, Source], Operations]


def edited(
    operations: Operations, profile: profiles.Profile, source: Source
) -> Iterator[Operations]:
    """Yield the operations with one edit, then with a further one, and so on.

    Not all make sense: the caller takes the last that a subject of the profile can be asked.
    """
    for _ in range(source.integer(1, _MOST_EDITS)):
        if not operations:
            return
        edits = _EDITS[:_HARMLESS] if _acts_in_tries(operations) else _EDITS
        operations = _with_clock(source.item(edits)(operations, profile, source))
        yield operations


def _with_clock(operations: Operations) -> Operations:
    """Return the operations with readings raised to those before them: no clock goes back."""
    kept: list[op.Operation] = []
    reading: int | None = None
    for operation in operations:
        if isinstance(operation, op.Advance | op.Elapse):
            reading = operation.to_ms if reading is None else max(operation.to_ms, reading)
            kept.append(structs.replace(operation, to_ms=reading))
        else:
            kept.append(operation)
    return tuple(kept)


def _place(operations: Sequence[op.Operation], source: Source) -> int:
    return source.integer(0, len(operations) - 1)


def _with(operations: Operations, place: int, *others: op.Operation) -> Operations:
    """Return the operations with others in the place of one."""
    return (*operations[:place], *others, *operations[place + 1 :])


def _left_out(operations: Operations, _: profiles.Profile, source: Source) -> Operations:
    """Return the case without one operation, or without a third of those of its kind."""
    place = _place(operations, source)
    if source.integer(0, 1):
        return _with(operations, place)
    kind = type(operations[place])
    return tuple(
        each for each in operations if not isinstance(each, kind) or source.integer(0, 2) > 0
    )


def _other_name(operations: Operations, _: profiles.Profile, source: Source) -> Operations:
    """Return the case with another of its names in one operation."""
    place = _place(operations, source)
    is_key = not name_of(operations[place])
    names = sorted({channel_of(word) for key, word in words_of(operations) if key is is_key})
    words = [channel_of(word) for _, word in named(operations[place])]
    if not names or not words:
        return operations
    change = of_words({words[0]: source.item(names)})
    return _with(operations, place, changed(operations[place], change))


def _moved(operations: Operations, _: profiles.Profile, source: Source) -> Operations:
    """Return the case with one operation in another place."""
    place = _place(operations, source)
    rest = _with(operations, place)
    target = source.integer(0, len(rest))
    return (*rest[:target], operations[place], *rest[target:])


def _again(operations: Operations, profile: profiles.Profile, source: Source) -> Operations:
    """Return the case with one operation once more, later: as it was, or with another argument."""
    place = _place(operations, source)
    target = source.integer(place + 1, len(operations))
    copy: Operations = (operations[place],)
    for change in (_extreme, _with_another_script):
        if source.integer(0, 1):
            copy = change(copy, profile, source)
    return (*operations[:target], *copy, *operations[target:])


def _with_another_script(
    operations: Operations, profile: profiles.Profile, source: Source
) -> Operations:
    """Return the case with a short script in one operation that may have one."""
    place = _place(operations, source)
    action = source.item((op.Throw(), op.AddInside("new", 1)))
    needed = {op.Throw: _Timer.SCRIPT_THROW, op.AddInside: _Timer.SCRIPT_ADD}[type(action)]
    if not isinstance(operations[place], op.Add) or needed not in profile.features:
        return operations
    return _with(operations, place, structs.replace(operations[place], script=(action,)))


def _extreme(operations: Operations, profile: profiles.Profile, source: Source) -> Operations:
    """Return the case with an extreme delay or size in one operation."""
    if isinstance(profile, profiles.TimerProfile):
        largest = profile.largest_delay_ms
        values = [largest, largest + 1, *(ms for ms in _SPANS_MS if ms <= largest)]
    elif isinstance(profile, profiles.PurgatoryProfile):
        values = [ms for ms in _SPANS_MS if ms <= profiles.LARGEST_SAFE_INTEGER]
    else:
        values = [*_SIZES_BYTES, *_BEYOND_BYTES]
    fields = ("delay_ms", "size_bytes")
    places = [n for n, each in enumerate(operations) if any(hasattr(each, f) for f in fields)]
    if not places:
        return operations
    place, value = source.item(places), source.item([-1, 0, *values])
    return _with(
        operations, place, changed(operations[place], of_numbers(lambda _: value, *fields))
    )


def _aged(operations: Operations, profile: profiles.Profile, source: Source) -> Operations:
    """Return the case with an old clock: every reading is as much later.

    Clocks of timers and purgatories begin old instead: theirs may go on tick by tick.
    """
    age_ms = source.item(_AGES_MS)
    if isinstance(profile, profiles.TimerProfile | profiles.PurgatoryProfile):
        return operations
    if not any(isinstance(each, op.Elapse) for each in operations):
        return operations
    aged = all_changed(operations, of_numbers(lambda to_ms: to_ms + age_ms, "to_ms"))
    return (op.Elapse(age_ms), *aged)


def _ended(operations: Operations, profile: profiles.Profile, source: Source) -> Operations:
    """Return the case with a shutdown in the middle, where the subject knows one."""
    features: frozenset[object] = frozenset(profile.features)
    if not features & {_Timer.SHUTDOWN, _Purgatory.SHUTDOWN}:
        return operations
    place = source.integer(len(operations) // 2, len(operations))
    return (*operations[:place], op.Shutdown(), *operations[place:])


def _repeated(operations: Operations, _: profiles.Profile, source: Source) -> Operations:
    """Return the case with some operations many times over, each time as far apart as the first.

    Each time has names of its own for what the operations introduce, or the same ones.
    """
    first = _place(operations, source)
    some = operations[first : first + source.integer(1, _MOST_REPEATED)]
    times = min(source.item(_REPETITIONS), _MOST_OPERATIONS // len(some))
    span_ms = _span_ms(operations[:first], some)
    times = min(times, _most_times(some), max(1, _MOST_REPEATED_MS // max(1, span_ms)))
    introduced = [] if source.integer(0, 1) else _introduced(some)
    announced = Counter(each.channel for each in some if isinstance(each, op.Announce))
    for name in introduced:
        announced.pop(name, None)

    def at(number: int, operation: op.Operation) -> op.Operation:
        words = {name: f"{name}-{number}" for name in introduced} if number else {}
        requested = changed(operation, _of_later_requests(announced, number))
        later = of_numbers(lambda to_ms: to_ms + number * span_ms, "to_ms")
        return changed(changed(requested, of_words(words)), later)

    again = tuple(at(number, each) for number in range(times) for each in some)
    later = of_numbers(lambda to_ms: to_ms + (times - 1) * span_ms, "to_ms")
    return (*operations[:first], *again, *all_changed(operations[first + len(some) :], later))


def _most_times(some: Operations) -> int:
    """Return how often a sequence may be repeated so that the model can follow it in good time."""
    kinds = {type(each) for each in some}
    if any(_has_script(each) or len(getattr(each, "keys", ())) > _MANY_KEYS for each in some):
        return _MOST_SCRIPTS
    if op.HangUp in kinds or (kinds & {op.Connect, op.Announce} and op.Poll not in kinds):
        return _MOST_AT_ONCE
    if op.Connect in kinds:
        return _MOST_CONNECTED
    is_purgatory = isinstance(some[0], op.PurgatoryOperation)
    return _MOST_OF_SEVERAL if is_purgatory and len(kinds) > 1 else _MOST_OPERATIONS


def _has_script(operation: op.Operation) -> bool:
    return getattr(operation, "script", ()) not in {(), op.Script()}


def _acts_in_tries(operations: Operations) -> bool:
    """Decide whether tries act: more of them may then call each other without end, nearly."""
    return any(isinstance(each, op.Watch) and each.script.on_try for each in operations)


def _span_ms(before: Operations, some: Operations) -> int:
    """Return how far the clock goes on in some operations, ms."""
    inside = [each.to_ms for each in some if isinstance(each, op.Advance | op.Elapse)]
    earlier = [each.to_ms for each in before if isinstance(each, op.Advance | op.Elapse)]
    return inside[-1] - (earlier or inside)[-1 if earlier else 0] if inside else 0


def _introduced(some: Operations) -> list[str]:
    """Return the names that can stand for a new object each time."""
    return [
        name_of(each)
        for each in some
        if isinstance(each, op.Add | op.Watch | op.Allocate | op.Connect)
    ]


def _of_later_requests(announced: Counter[str], number: int) -> Change:
    """Return the change of requests into those that their channels have announced since."""

    def change(struct: msgspec.Struct) -> dict[str, str]:
        words = {}
        for field, word in named(struct):
            channel, _, count = word.partition("#")
            if count.isdecimal() and announced[channel]:
                words[field] = f"{channel}#{int(count) + number * announced[channel]}"
        return words

    return change


def _inside(operations: Operations, profile: profiles.Profile, source: Source) -> Operations:
    """Return the case with one operation moved into a script before it."""
    place = _place(operations, source)
    action = _action_of(operations[place])
    if action is None or _NEEDED[type(action)] not in profile.features:
        return operations
    hosts = [n for n in range(place) if _can_host(operations[n])]
    if not hosts:
        return operations
    host = source.item(hosts)
    hosting = _hosting(operations[host], action, profile, source)
    return _with(_with(operations, place), host, hosting)


def _can_host(operation: op.Operation) -> bool:
    """Decide whether an action can stand behind those of the operation's script.

    What an inner advance runs may throw through it, so that no action behind it is certain.
    """
    if isinstance(operation, op.Add):
        return op.AdvanceInside() not in operation.script
    return isinstance(operation, op.Watch)


def _action_of(operation: op.Operation) -> op.Action | op.CallInside | None:
    """Return an operation as an action of a script; None where there is none."""
    match operation:
        case op.Add(task, delay_ms):
            return op.AddInside(task, delay_ms)
        case op.Cancel(task):
            return op.CancelInside(task)
        case op.Watch(name, keys, delay_ms):
            return op.WatchInside(name, keys, delay_ms)
        case op.Check(key):
            return op.CheckInside(key)
        case op.CancelForKey(key):
            return op.CancelForKeyInside(key)
        case op.Force(name):
            return op.ForceInside(name)
    return None


_NEEDED: dict[type[msgspec.Struct], _Timer | _Purgatory] = {
    op.AddInside: _Timer.SCRIPT_ADD,
    op.CancelInside: _Timer.SCRIPT_CANCEL,
    op.WatchInside: _Purgatory.SCRIPT_WATCH,
    op.CheckInside: _Purgatory.SCRIPT_CHECK,
    op.CancelForKeyInside: _Purgatory.SCRIPT_CANCEL_FOR_KEY,
    op.ForceInside: _Purgatory.SCRIPT_FORCE,
}
"""The feature that a subject must have for an action."""


def _hosting(
    host: op.Operation,
    action: op.Action | op.CallInside,
    profile: profiles.Profile,
    source: Source,
) -> op.Operation:
    """Return an operation with an action at the end of one of its scripts."""
    if isinstance(host, op.Add):
        assert isinstance(action, op.Action)
        return structs.replace(host, script=(*host.script, action))
    assert isinstance(host, op.Watch)
    assert isinstance(action, op.CallInside)
    # An advance that runs time-outs itself may purge before or after a call that waits for it.
    threads = _Purgatory.SCRIPT_MEANWHILE in profile.features
    stepped = isinstance(profile, profiles.PurgatoryProfile) and (
        profile.executor is profiles.Executor.STEPPED
    )
    meanwhile = threads and stepped and source.integer(0, 3) == 0
    call: op.CallbackAction = op.Meanwhile(action) if meanwhile else action
    script = host.script
    quiet = isinstance(action, op.ForceInside | op.CancelForKeyInside)
    tries_act = quiet and _Purgatory.SCRIPT_TRY in profile.features
    where = source.integer(0, 2 if tries_act else 1)
    if where == 0:
        script = structs.replace(script, on_complete=(*script.on_complete, call))
    elif where == 1:
        script = structs.replace(script, on_expiration=(*script.on_expiration, call))
    else:
        tries = [*(script.on_try or ((),)), *(() for _ in range(source.integer(0, 1)))]
        tries[-1] = (*tries[-1], call)
        script = structs.replace(script, on_try=tuple(tries))
    return structs.replace(host, script=script)


_HARMLESS = 5
"""The number of edits that add no call, the first ones."""

_EDITS: tuple[_Edit, ...] = (
    _left_out,
    _moved,
    _extreme,
    _aged,
    _ended,
    _other_name,
    _again,
    _inside,
    _repeated,
    _repeated,
)
"""The edits, the smallest first: shrinking goes towards the front."""
