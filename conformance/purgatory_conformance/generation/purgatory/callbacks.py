"""Situations in which the callbacks of a delayed operation do something.

An operation with a script is watched, and something completes it: force, a check, or its time-out.
"""

from collections.abc import Sequence

from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import (
    Advance,
    Answer,
    CallbackAction,
    CancelForKeyInside,
    Check,
    CheckInside,
    Force,
    ForceInside,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Throw,
    Watch,
    WatchInside,
)
from purgatory_spec.profiles import PurgatoryFeature

Actions = tuple[CallbackAction, ...]


def _completed(
    world: PurgatoryWorld, source: Source, actions: Actions, keys: tuple[str, ...]
) -> list[Operation]:
    """Watch an operation whose callbacks act so, and have it completed in one of three ways."""
    name, delay_ms = world.fresh_name(), source.integer(1, 4)
    ways = ["check", "time-out", "second try"]
    if world.has(PurgatoryFeature.FORCE):
        ways.insert(0, "force")
    way = source.item(ways)
    script = Script(on_complete=actions)
    if way == "time-out" and source.integer(0, 1):
        script = Script(on_expiration=actions)
    if way == "second try":
        script = Script((Answer.WAIT, Answer.COMPLETE), actions)
    watch = Watch(name, keys, delay_ms, script)
    if way == "force":
        return [watch, Force(name)]
    if way == "check":
        return [watch, Satisfy(name), Check(source.item(keys))]
    if way == "time-out":
        return [watch, *_expiry(world, source, world.due_tick(delay_ms))]
    return [watch]


def _expiry(world: PurgatoryWorld, source: Source, due_tick: int) -> list[Operation]:
    """Advance to a moment and run what is handed over by then, and rarely one less."""
    if not world.is_stepped:
        return [Advance(due_tick)]
    due = [tick for tick in world.state.timer.store.due_ticks.values() if tick <= due_tick]
    runs = len(world.queue) + len(due) + 1 + source.integer(0, 1)
    return [Advance(due_tick), *(RunOne() for _ in range(runs))]


def watches_inside(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that watches another operation; rarely its own or a known one."""
    name = world.fresh_name()
    if world.has(PurgatoryFeature.REWATCH) and source.integer(0, 3) == 3:
        name = source.item([*world.live, world.next_name])
    action = WatchInside(name, world.keys(source, most=2), source.integer(1, 5))
    operations = _completed(world, source, (action,), world.keys(source, most=2))
    if source.integer(0, 1):
        operations += [Satisfy(name), Check(action.keys[0])]
    return operations


def checks_inside(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that checks a key under which others wait, also its own key."""
    if source.integer(0, 3) == 3:
        return _checks_what_is_due(world, source)
    key = source.item(world.used_keys) if world.used_keys else "a"
    waiting = [name for name in world.state.lists.get(key, ()) if name in world.live]
    satisfied: list[Operation] = []
    if waiting and source.integer(0, 1):
        satisfied = [Satisfy(source.item(waiting))]
    keys = (key,) if source.integer(0, 2) == 0 else world.keys(source, most=2)
    return [*satisfied, *_completed(world, source, (CheckInside(key),), keys)]


def cancels_inside(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that cancels a key, also its own."""
    key = source.item(world.used_keys) if world.used_keys else "a"
    keys = (key,) if source.integer(0, 2) == 0 else world.keys(source, most=2)
    return _completed(world, source, (CancelForKeyInside(key),), keys)


def forces_inside(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that forces another operation, rarely an unknown one or its own."""
    if source.integer(0, 3) == 3:
        return _forces_what_is_due(world, source)
    known = [*world.live, *world.live, *world.completed[:1]]
    name = source.item([*known, world.next_name]) if known else world.fresh_name()
    actions: Sequence[CallbackAction] = [ForceInside(name)]
    return _completed(world, source, tuple(actions), world.keys(source, most=2))


def _forces_what_is_due(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw two operations that expire together; the one completes the other before it has run."""
    delay_ms, key = source.integer(1, 4), source.item(("a", "b"))
    first, second = world.fresh_name(), world.fresh_name()
    script = Script(on_complete=(ForceInside(second),))
    watches = [Watch(first, (key,), delay_ms, script), Watch(second, (key,), delay_ms)]
    return [*watches, *_expiry(world, source, world.due_tick(delay_ms))]


def _checks_what_is_due(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw two operations that expire together; the one checks the other's key, which is ready."""
    delay_ms, key = source.integer(1, 4), source.item(("a", "b"))
    first, second = world.fresh_name(), world.fresh_name()
    script = Script(on_complete=(CheckInside(key),))
    watches = [Watch(first, (key,), delay_ms, script), Watch(second, (key,), delay_ms)]
    expiry = _expiry(world, source, world.due_tick(delay_ms))
    return [*watches, Satisfy(second), *expiry]


def throws_in_callback(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that throws beside operations that expire in or after the same tick."""
    key = source.item(world.used_keys) if world.used_keys else "a"
    operations = _completed(world, source, (Throw(),), (key, "b") if key != "b" else (key,))
    other = Watch(world.fresh_name(), (key,), source.integer(1, 4))
    if source.integer(0, 1):
        return [other, *operations]
    rest = _expiry(world, source, world.due_tick(other.delay_ms))
    return [*operations, other, *rest]


def throws_in_expiry(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw a callback that throws in the executor, between others in the queue."""
    key, delay_ms = source.item(("a", "b")), source.integer(1, 4)
    in_complete = Script(on_complete=(Throw(),))
    script = source.item((in_complete, Script(on_expiration=(Throw(),))))
    watches = [
        Watch(world.fresh_name(), (key,), delay_ms + source.integer(0, 1))
        for _ in range(source.integer(1, 2))
    ]
    at = source.integer(0, len(watches))
    watches.insert(at, Watch(world.fresh_name(), (key,), delay_ms, script))
    due_tick = world.due_tick(delay_ms)
    more = [RunOne() for _ in watches] if world.is_stepped else []
    later = _expiry(world, source, world.due_tick(delay_ms + 1))
    return [*watches, *_expiry(world, source, due_tick), *more, *later, *more]
