"""Situations in which the callbacks of a delayed operation do something.

An operation with a script is watched, and something completes it: force, a check, or its time-out.
"""

from collections.abc import Sequence

from purgatory_conformance.generation.purgatory import histories
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature

Actions = tuple[op.CallbackAction, ...]


def _completed(
    world: PurgatoryWorld, source: Source, actions: Actions, keys: tuple[str, ...]
) -> list[op.Operation]:
    """Watch an operation whose callbacks act so, and have it completed in one of three ways.

    Some callbacks go on to act, also under the key that is passed.
    """
    if source.integer(0, 2) == 2 and op.Throw() not in actions:
        actions += histories.actions(world, source, world.live[:1], keys[:1], most=2)
    name, delay_ms = world.fresh_name(), source.integer(1, 4)
    ways = ["check", "time-out", "second try"]
    if world.has(PurgatoryFeature.FORCE):
        ways.insert(0, "force")
    way = source.item(ways)
    script = op.Script(on_complete=actions)
    if way == "time-out" and source.integer(0, 1):
        script = op.Script(on_expiration=actions)
    if way == "second try":
        script = op.Script((op.Answer.WAIT, op.Answer.COMPLETE), actions)
    watch = op.Watch(name, keys, delay_ms, script)
    if way == "force":
        return [watch, op.Force(name)]
    if way == "check":
        return [watch, op.Satisfy(name), op.Check(source.item(keys))]
    if way == "time-out":
        return [watch, *_expiry(world, source, world.due_tick(delay_ms))]
    return [watch]


def _expiry(world: PurgatoryWorld, source: Source, due_tick: int) -> list[op.Operation]:
    """Advance to a moment and run what is handed over by then, and rarely one less."""
    if not world.is_stepped:
        return [op.Advance(due_tick)]
    due = [tick for tick in world.state.timer.store.due_ticks.values() if tick <= due_tick]
    runs = len(world.queue) + len(due) + 1 + source.integer(0, 1)
    return [op.Advance(due_tick), *(op.RunOne() for _ in range(runs))]


def watches_inside(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that watches another operation; rarely its own or a known one."""
    name = world.fresh_name()
    if world.has(PurgatoryFeature.REWATCH) and source.integer(0, 3) == 3:
        name = source.item([*world.live, world.next_name])
    action = op.WatchInside(name, world.keys(source, most=2), source.integer(1, 5))
    operations = _completed(world, source, (action,), world.keys(source, most=2))
    if source.integer(0, 1):
        operations += [op.Satisfy(name), op.Check(action.keys[0])]
    return operations


def checks_inside(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that checks a key under which others wait, also its own key."""
    if source.integer(0, 2) == 2:
        return _checks_what_is_due(world, source)
    key = source.item(world.used_keys) if world.used_keys else "a"
    waiting = [name for name in world.state.lists.get(key, ()) if name in world.live]
    satisfied: list[op.Operation] = []
    if waiting and source.integer(0, 1):
        satisfied = [op.Satisfy(source.item(waiting))]
    keys = (key,) if source.integer(0, 2) == 0 else world.keys(source, most=2)
    return [*satisfied, *_completed(world, source, (op.CheckInside(key),), keys)]


def checks_in_a_ring(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw callbacks each of which checks the next key; the last comes back to the first.

    It has satisfied an operation that the check of the first key has passed already.
    """
    keys = tuple(f"r{place}" for place in range(source.item((2, 3, 4, 4, 9))))
    delay_ms = source.integer(3, 9)
    passed = world.fresh_name()
    watches = [op.Watch(passed, keys[:1], delay_ms)]
    for place, key in enumerate(keys, start=1):
        actions: Actions = (op.SatisfyInside(passed), op.CheckInside(keys[0]))
        if place < len(keys):
            actions = (op.CheckInside(keys[place]),)
        watches.append(op.Watch(world.fresh_name(), (key,), delay_ms, op.Script((), actions)))
    return [*watches, *(op.Satisfy(each.operation) for each in watches[1:]), op.Check(keys[0])]


def cancels_inside(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that cancels a key, also its own."""
    key = source.item(world.used_keys) if world.used_keys else "a"
    keys = (key,) if source.integer(0, 2) == 0 else world.keys(source, most=2)
    return _completed(world, source, (op.CancelForKeyInside(key),), keys)


def forces_inside(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that forces another operation, rarely an unknown one or its own."""
    if source.integer(0, 3) == 3:
        return _forces_what_is_due(world, source)
    known = [*world.live, *world.live, *world.completed[:1]]
    # What is forced before its first watch is watched again then, for whoever tells them apart.
    unknown = world.next_name if world.has(PurgatoryFeature.REWATCH) else world.fresh_name()
    name = source.item([*known, unknown])
    actions: Sequence[op.CallbackAction] = [op.ForceInside(name)]
    return _completed(world, source, tuple(actions), world.keys(source, most=2))


def _forces_what_is_due(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw two operations that expire together; the one completes the other before it has run."""
    delay_ms, key = source.integer(1, 4), source.item(("a", "b"))
    first, second = world.fresh_name(), world.fresh_name()
    script = op.Script(on_complete=(op.ForceInside(second),))
    watches = [op.Watch(first, (key,), delay_ms, script), op.Watch(second, (key,), delay_ms)]
    return [*watches, *_expiry(world, source, world.due_tick(delay_ms))]


def _checks_what_is_due(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw two operations that expire together; the one checks the other's key, which is ready."""
    delay_ms, key = source.integer(1, 4), source.item(("a", "b"))
    first, second = world.fresh_name(), world.fresh_name()
    script = op.Script(on_complete=(op.CheckInside(key),))
    watches = [op.Watch(first, (key,), delay_ms, script), op.Watch(second, (key,), delay_ms)]
    expiry = _expiry(world, source, world.due_tick(delay_ms))
    return [*watches, op.Satisfy(second), *expiry]


def throws_in_callback(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that throws beside operations that expire in or after the same tick."""
    key = source.item(world.used_keys) if world.used_keys else "a"
    operations = _completed(world, source, (op.Throw(),), (key, "b") if key != "b" else (key,))
    other = op.Watch(world.fresh_name(), (key,), source.integer(1, 4))
    if source.integer(0, 1):
        return [other, *operations]
    rest = _expiry(world, source, world.due_tick(other.delay_ms))
    return [*operations, other, *rest]


def throws_in_expiry(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a callback that throws in the executor, between others in the queue."""
    key, delay_ms = source.item(("a", "b")), source.integer(1, 4)
    in_complete = op.Script(on_complete=(op.Throw(),))
    script = source.item((in_complete, op.Script(on_expiration=(op.Throw(),))))
    watches = [
        op.Watch(world.fresh_name(), (key,), delay_ms + source.integer(0, 1))
        for _ in range(source.integer(1, 2))
    ]
    at = source.integer(0, len(watches))
    watches.insert(at, op.Watch(world.fresh_name(), (key,), delay_ms, script))
    due_tick = world.due_tick(delay_ms)
    more = [op.RunOne() for _ in watches] if world.is_stepped else []
    later = _expiry(world, source, world.due_tick(delay_ms + 1))
    return [*watches, *_expiry(world, source, due_tick), *more, *later, *more]
