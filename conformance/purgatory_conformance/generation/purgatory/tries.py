"""Situations in which a try acts, or another thread does while a callback stands still.

Where another thread acts, the operation that is tried is the last of its list, so that the check
that tries it has nothing left to do which another thread could do at the same time.
"""

from purgatory_conformance.generation.purgatory.histories import time_out
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature

Actions = tuple[op.CallbackAction, ...]


def acts_in_try(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a try that satisfies, checks, forces, cancels or watches."""
    name, key = world.fresh_name(), source.item(world.keys(source, most=1))
    calls: list[op.CallInside] = []
    if world.has(PurgatoryFeature.SCRIPT_CHECK):
        calls += [op.CheckInside(key)] * 2
    if world.has(PurgatoryFeature.SCRIPT_FORCE):
        calls += [
            op.ForceInside(name),
            op.ForceInside(name),
            *(op.ForceInside(other) for other in world.live[:1]),
        ]
    if world.has(PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY):
        calls += [op.CancelForKeyInside(other) for other in world.used_keys[:1]]
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        calls.append(op.WatchInside(world.fresh_name(), (key,), source.integer(1, 4)))
    if not calls:
        return [*_tried(source, name, key, (op.SatisfyInside(name),)), op.Check(key)]
    call = source.item(calls)
    actions: Actions = (call,)
    if isinstance(call, op.CheckInside) and source.integer(0, 3):
        actions = (op.SatisfyInside(name), call)
    return _tried(source, name, key, actions)


def changes_its_list(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a check in which a try changes the list that the check is passing.

    It adds an entry, cancels for the key, or checks the key: then entries of completed operations
    leave the list, which may be many. Mostly the try completes its operation.
    """
    name, key, other = world.fresh_name(), source.item(("a", "d", "d")), world.fresh_name()
    delay_ms = source.integer(3, 9)
    ways: list[Actions] = []
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        ways += [(op.WatchInside(other, (key,), delay_ms),)] * 2
    if world.has(PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY):
        ways.append((op.CancelForKeyInside(key),))
    if world.has(PurgatoryFeature.SCRIPT_CHECK):
        ways += [
            (op.CheckInside(key),),
            (op.CheckInside(key),),
            (op.SatisfyInside(name), op.CheckInside(key)),
        ]
    if not ways:
        return []
    answer = source.item((op.Answer.COMPLETE, op.Answer.COMPLETE, op.Answer.WAIT))
    script = op.Script((op.Answer.WAIT, op.Answer.WAIT, answer), on_try=((), (), source.item(ways)))
    first = [op.Watch(world.fresh_name(), (key,), delay_ms) for _ in range(source.item((0, 0, 1)))]
    count = source.item((0, 0, 1, 2, 20))
    behind = [op.Watch(world.fresh_name(), (key,), delay_ms) for _ in range(count)]
    ends: list[op.Operation] = []
    if world.has(PurgatoryFeature.FORCE):
        ends = [op.Force(watch.operation) for watch in behind[source.integer(0, 1) :]]
    last: list[op.Operation] = [op.Satisfy(watch.operation) for watch in (*first, *behind[:1])]
    watch = op.Watch(name, (key,), delay_ms, script)
    return [*first, watch, *behind, *ends, op.Check(key), *last, op.Check(key)]


def changes_a_long_list(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a check of a list of some hundred entries, which a try changes meanwhile.

    The list is longer than a part of a list may be, where lists have parts, and so parts come to be
    empty or small while a check stands in them. Three operations have many entries each: one is
    completed before the check, one by the try, one before the check or not at all.
    """
    key, delay_ms = "k0", source.integer(7, 9)
    before, inside, behind, tried, added = (world.fresh_name() for _ in range(5))
    acts = _changes(world, source, key, inside, added)
    if source.integer(0, 2) == 0:
        acts = (op.SatisfyInside(tried), *acts)
    answer = source.item((op.Answer.COMPLETE, op.Answer.COMPLETE, op.Answer.WAIT))
    script = op.Script((op.Answer.WAIT, op.Answer.WAIT, answer), on_try=((), (), acts))
    first, second, third, last = (_few(world, source) for _ in range(4))
    layout = [*first, before, *second, tried, inside, *third, behind]
    if source.integer(0, 2) == 0:
        layout = [*first, inside, *second, tried, before, *third, behind]
    sizes = {
        before: source.integer(100, 126),
        inside: source.integer(20, 60),
        behind: source.item((1, 1, 126)),
    }
    watches: list[op.Operation] = []
    for name in (*layout, *last):
        keys = (key,) * sizes.get(name, 1)
        watches.append(op.Watch(name, keys, delay_ms, script if name == tried else op.Script()))
    ends = _ended(world, [before, *([behind] if source.integer(0, 3) else []), *first[:1]])
    later: list[op.Operation] = [
        op.Watch(added, (key,) * source.item((1, 90)), delay_ms),
        op.Check(key),
    ]
    later.insert(source.integer(0, 1), op.Advance(world.now))
    satisfied = [op.Satisfy(name) for name in (*second, *third[:1], added)]
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        later.append(op.CancelForKey(key))
    return [
        *watches,
        *ends,
        op.Check(key),
        *satisfied[source.integer(0, 1) :],
        *later,
        op.Check(key),
    ]


def _changes(world: PurgatoryWorld, source: Source, key: str, other: str, added: str) -> Actions:
    """Draw actions of a try that complete an operation and pass, lengthen or end the list."""
    completes: op.CallbackAction = op.SatisfyInside(other)
    if world.has(PurgatoryFeature.SCRIPT_FORCE) and source.integer(0, 1):
        completes = op.ForceInside(other)
    acts: list[op.CallbackAction] = [completes]
    if world.has(PurgatoryFeature.SCRIPT_CHECK):
        acts.append(op.CheckInside(key))
    if world.has(PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY) and source.integer(0, 9) == 0:
        acts.append(op.CancelForKeyInside(key))
    if world.has(PurgatoryFeature.SCRIPT_WATCH) and source.integer(0, 2) == 0:
        acts.append(op.WatchInside(added, (key,) * source.item((1, 70)), 9))
    return tuple(acts)


def _few(world: PurgatoryWorld, source: Source) -> list[str]:
    return [world.fresh_name() for _ in range(source.integer(0, 2))]


def _ended(world: PurgatoryWorld, names: list[str]) -> list[op.Operation]:
    """Return steps that complete these operations now, or in the next check."""
    if world.has(PurgatoryFeature.FORCE):
        return [op.Force(name) for name in names]
    return [op.Satisfy(name) for name in names]


def meanwhile(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a try or a callback during which another thread makes a call of any kind.

    The call concerns the operation whose callback stands still, its key, or another one's.
    """
    name, other, delay_ms = world.fresh_name(), world.fresh_name(), source.integer(1, 4)
    key, beside = source.item((("a", "b"), ("b", "c"), ("c", "a")))
    # An advance that runs time-outs itself may purge before or after a call that waits for it.
    ways = ["on_complete", "on_expiration"] if world.is_stepped else ["on_complete"]
    satisfied: Actions = ()
    if world.has(PurgatoryFeature.SCRIPT_TRY):
        ways = ["try", "try", *ways]
        satisfied = (op.SatisfyInside(source.item((name, name, other))),) * source.integer(0, 1)
    way, at_key = source.item(ways), source.item((key, key, beside))
    calls: list[op.CallInside] = [op.CheckInside(at_key)] * 2
    calls.append(op.WatchInside(world.fresh_name(), (at_key,), delay_ms))
    if world.has(PurgatoryFeature.FORCE):
        calls.append(op.ForceInside(source.item((name, other, *world.live))))
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        calls += [op.CancelForKeyInside(at_key)] * 2
    acts = (*satisfied, op.Meanwhile(source.item(calls)))
    watches = [op.Watch(other, (beside,), delay_ms + 1)]
    ready: list[op.Operation] = [op.Satisfy(other)] * source.integer(0, 1)
    if way == "try":
        tried = _tried(source, name, key, acts, first=1)
        return [*watches, *ready, *tried, op.Check(at_key)]
    script = op.Script(on_complete=acts)
    if way == "on_expiration":
        script = op.Script(on_expiration=acts)
    watches.append(op.Watch(name, (key,), delay_ms, script))
    ends = time_out(world, world.due_tick(delay_ms))
    if way == "on_complete" and (not world.is_stepped or source.integer(0, 2)):
        ends = [op.Satisfy(name), op.Check(key)]
        if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
            ends = [op.Force(name)]
    return [*watches, *ready, *ends, op.Check(at_key)]


def crosswise(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw two operations whose keys two threads check, and which then call crosswise.

    The second one is checked by another thread while a callback of the first stands still, and
    calls what the first thread holds; then the first callback calls what the other thread holds.
    Each is the last of its list. Where the second operation's call has to wait, so has the first
    one's, whether lists or operations are locked.
    """
    name, other = world.fresh_name(), world.fresh_name()
    key = source.item(("a", "d"))
    beside = source.item(("b", "c"))
    back = source.item(_calls_of_list(world, source, key))
    then: op.CallInside = op.CheckInside(beside)
    if world.has(PurgatoryFeature.SCRIPT_FORCE) and source.integer(0, 3) == 0:
        back, then = op.ForceInside(name), op.ForceInside(other)
    waits, delay_ms = (op.Answer.WAIT,) * 2, source.integer(2, 5)
    watches: list[op.Operation] = []
    for watched, under, actions in (
        (other, beside, (back,)),
        (name, key, (op.Meanwhile(op.CheckInside(beside)), then)),
    ):
        answer = source.item((op.Answer.COMPLETE, op.Answer.COMPLETE, op.Answer.WAIT))
        in_try = world.has(PurgatoryFeature.SCRIPT_TRY) and source.integer(0, 3) > 0
        script = op.Script((*waits, op.Answer.COMPLETE), actions)
        if in_try:
            script = op.Script((*waits, answer), on_try=((), (), actions))
        watches.append(op.Watch(watched, (under,), delay_ms, script))
    return [*watches, op.Check(key), *([op.Check(beside)] if source.integer(0, 1) else [])]


def _calls_of_list(world: PurgatoryWorld, source: Source, key: str) -> list[op.CallInside]:
    """Return calls that use the list of a key, as far as they are offered."""
    calls: list[op.CallInside] = [op.CheckInside(key)] * 3
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        calls.append(op.WatchInside(world.fresh_name(), (key,), source.integer(1, 4)))
    if world.has(PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY):
        calls.append(op.CancelForKeyInside(key))
    return calls


def _tried(
    source: Source, name: str, key: str, actions: Actions, first: int = 0
) -> list[op.Operation]:
    """Watch an operation one of whose tries acts so: a watch makes two, a check the third.

    What another thread waits with during the first, the rest of the watch would race with.
    """
    number = max(first, source.item((1, 2, 0)))
    script = op.Script(on_try=(*((),) * number, actions))
    watch = op.Watch(name, (key,), source.integer(1, 4), script)
    return [watch, op.Check(key)] if number > 1 else [watch]
