"""Situations in which a try acts, or another thread does while a callback stands still.

Where another thread acts, the operation that is tried is the last of its list, so that the check
that tries it has nothing left to do which another thread could do at the same time.
"""

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
        calls += [op.ForceInside(name), *(op.ForceInside(other) for other in world.live[:1])]
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
    """Draw a try during which another thread checks its key, another's key, or forces."""
    name, key = world.fresh_name(), source.item(world.keys(source, most=1))
    way = source.item(("own", "own", "other", "force", "watch"))
    if way == "own":
        acts: Actions = (op.SatisfyInside(name), op.Meanwhile(op.CheckInside(key)))
        return _tried(source, name, key, acts, first=1)
    if way == "force" and world.has(PurgatoryFeature.FORCE):
        forced = source.item([name, *world.live])
        return _tried(source, name, key, (op.Meanwhile(op.ForceInside(forced)),), first=1)
    other = world.fresh_name()
    if way == "watch":
        watch = op.WatchInside(other, (key,), source.integer(1, 4))
        return _tried(source, name, key, (op.Meanwhile(watch),), first=1)
    beside = source.item([each for each in ("a", "b", "c") if each != key])
    acts = (op.SatisfyInside(other), op.Meanwhile(op.CheckInside(beside)))
    first = op.Watch(other, (beside,), source.integer(1, 4))
    return [first, *_tried(source, name, key, acts, first=1)]


def meanwhile_in_callback(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an ``on_complete`` during which another thread checks another operation's key."""
    name, other = world.fresh_name(), world.fresh_name()
    script = op.Script(
        (op.Answer.WAIT, op.Answer.WAIT, op.Answer.COMPLETE), (op.Meanwhile(op.CheckInside("b")),)
    )
    watches: list[op.Operation] = [
        op.Watch(other, ("b",), source.integer(1, 4)),
        op.Watch(name, ("a",), source.integer(1, 4), script),
        op.Satisfy(other),
    ]
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        return [*watches, op.Force(name)]
    return [*watches, op.Check("a")]


def _tried(
    source: Source, name: str, key: str, actions: Actions, first: int = 0
) -> list[op.Operation]:
    """Watch an operation one of whose tries acts so: a watch makes two, a check the third.

    What another thread waits with during the first, the rest of the watch would race with.
    """
    number = max(first, source.item((1, 2, 1, 2, 0)))
    script = op.Script(on_try=(*((),) * number, actions))
    watch = op.Watch(name, (key,), source.integer(1, 4), script)
    return [watch, op.Check(key)] if number > 1 else [watch]
