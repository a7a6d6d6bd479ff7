"""Situations that take a history: what happened to an operation before makes the difference.

Owners of callbacks that others wait behind, first tries that complete an operation with a script,
and operations that are watched again after they left the lists.
"""

from collections.abc import Sequence
from itertools import pairwise

from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature, ReleaseCancelled

WAIT, COMPLETE, THROW = op.Answer.WAIT, op.Answer.COMPLETE, op.Answer.THROW
Actions = tuple[op.CallbackAction, ...]


def actions(
    world: PurgatoryWorld, source: Source, names: Sequence[str], keys: Sequence[str], most: int = 3
) -> Actions:
    """Draw a callback's actions on these operations and keys, of those the subject offers.

    At most two of the actions watch, so that callbacks do not go on for long.
    """
    offered: list[op.CallbackAction] = []
    if world.has(PurgatoryFeature.SCRIPT_FORCE):
        offered += [op.ForceInside(name) for name in names]
    if world.has(PurgatoryFeature.SCRIPT_CHECK):
        offered += [op.CheckInside(key) for key in keys]
    if world.has(PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY):
        offered += [op.CancelForKeyInside(key) for key in keys]
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        offered += [
            op.WatchInside(world.fresh_name(), (source.item(keys),), source.integer(1, 4))
            for _ in range(2)
        ]
    if not offered:
        return ()
    taken: list[op.CallbackAction] = []
    for _ in range(source.integer(1, most)):
        action = source.item(offered)
        if isinstance(action, op.WatchInside):
            offered.remove(action)
        taken.append(action)
        if not offered:
            break
    return tuple(taken)


def owner_before_others(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation whose callback acts on those watched after it under the same key."""
    key = source.item(world.keys(source, most=1))
    owner = world.fresh_name()
    others = [world.fresh_name() for _ in range(source.integer(1, 3))]
    acts = actions(world, source, others, (key, key, source.item(("e", "f"))), most=2)
    if not acts:
        return []
    in_check = (WAIT, WAIT, COMPLETE) if source.integer(0, 1) else ()
    delay_ms = source.integer(2, 6)
    watches: list[op.Operation] = [op.Watch(owner, (key,), delay_ms, op.Script(in_check, acts))]
    for name in others:
        keys = (key,) if source.integer(0, 1) else (key, source.item(("e", "f")))
        watches.append(op.Watch(name, keys, delay_ms + 1))
    satisfied = [] if in_check else [op.Satisfy(owner)]
    return [*watches, *satisfied, op.Check(key), op.Check(key)]


def first_try_with_callback(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a first try that completes an operation whose callback acts, throws, or both."""
    key, other = source.item(world.keys(source, most=1)), world.fresh_name()
    acts = actions(world, source, (other,), (key,), most=2)
    if world.has(PurgatoryFeature.SCRIPT_THROW) and (not acts or source.integer(0, 1)):
        acts = (*(acts if source.integer(0, 1) else ()), op.Throw())
    if not acts:
        return []
    owner = op.Watch(world.fresh_name(), (key,), source.integer(1, 5), op.Script((COMPLETE,), acts))
    after: op.Operation = op.Check(key)
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY) and source.integer(0, 1):
        after = op.CancelForKey(key)
    return [op.Watch(other, (key,), source.integer(1, 5)), owner, after]


def watch_again_unlisted(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Watch again what is in no list and not completed, then see its time-out or an event."""
    name, key, delay_ms = world.fresh_name(), source.item(("a", "b", "c")), source.integer(1, 5)
    ways = ["no keys left"] if world.has(PurgatoryFeature.CANCEL_FOR_KEY) else []
    if world.has(PurgatoryFeature.SCRIPT_THROW):
        ways.append("first try threw")
    if not ways:
        return []
    if source.item(ways) == "first try threw":
        script = op.Script((THROW, WAIT))
        gone: list[op.Operation] = [op.Watch(name, (key,), delay_ms, script)]
    else:
        gone = [op.Watch(name, (key,), delay_ms), op.CancelForKey(key)]
    again = op.Watch(name, (key,), delay_ms)
    if source.integer(0, 1):
        return [*gone, again, op.Satisfy(name), op.Check(key)]
    due_tick, tick_ms = world.due_tick(delay_ms), world.configuration.tick_ms
    if source.integer(0, 1) == 0:
        return [*gone, again, *time_out(world, due_tick)]
    # Time passes before, so that the end of the first delay is not that of the second one.
    later: list[op.Operation] = [again, op.Advance(due_tick)]
    gone.append(op.Advance(world.now + source.integer(0, delay_ms - 1)))
    return [*gone, *later, *time_out(world, due_tick + delay_ms + tick_ms)]


def time_out(world: PurgatoryWorld, due_tick: int) -> list[op.Operation]:
    """Advance to a moment and run all that is handed over by then."""
    if not world.is_stepped:
        return [op.Advance(due_tick)]
    due = [tick for tick in world.state.timer.store.due_ticks.values() if tick <= due_tick]
    return [op.Advance(due_tick), *(op.RunOne() for _ in range(len(world.queue) + len(due) + 1))]


_AGAIN = (
    (WAIT, WAIT, WAIT, THROW, WAIT),
    (WAIT, WAIT, WAIT, COMPLETE),
    (WAIT, WAIT, THROW, WAIT),
    (WAIT, WAIT, COMPLETE),
)
"""Scripts by which watching again throws or completes, in its second try or in its first."""


def watch_again_with_script(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Watch again what then throws or completes; then the old due tick, the new one, the old key.

    What is left behind under the old key shows in what is done with it at the end.
    """
    scripts = _AGAIN if world.has(PurgatoryFeature.SCRIPT_THROW) else _AGAIN[1::2]
    old, new = world.keys(source, most=1)[0], world.keys(source, most=1)[0]
    name, delay_ms = world.fresh_name(), source.integer(3, 6) * world.configuration.tick_ms
    later = source.integer(1, 3) * world.configuration.tick_ms
    begun = world.now
    operations: list[op.Operation] = [
        op.Watch(name, (old,), delay_ms, op.Script(source.item(scripts)))
    ]
    if world.has(PurgatoryFeature.ELAPSE):
        operations.append(op.Elapse(begun + later))
    elif source.integer(0, 1):
        operations.append(op.Advance(begun + later))
    operations.append(op.Watch(name, (new,), delay_ms))
    old_key: op.Operation = op.Check(old)
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY) and source.integer(0, 1):
        old_key = op.CancelForKey(old)
    if source.integer(0, 2) == 0:
        return [*operations, old_key]
    dues = [world.due_tick(delay_ms), world.due_tick(delay_ms + later)]
    return [*operations, *(op.Advance(due) for due in dues), old_key, *run_queue(world, 3)]


def run_queue(world: PurgatoryWorld, more: int) -> list[op.Operation]:
    """Return runs for the executor's queue, and as many more, where running is a step."""
    return [op.RunOne() for _ in range(len(world.queue) + more)] if world.is_stepped else []


def satisfy_alone(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that becomes completable without a check; then a watch or a cancel."""
    ways = ["satisfied"] if world.live else []
    if world.has(PurgatoryFeature.REWATCH):
        ways += ["before its watch", "watched again"]
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        ways.append("cancelled")
    if not ways:
        return []
    way, keys, delay_ms = source.item(ways), world.keys(source, most=2), source.integer(1, 5)
    if way == "satisfied":
        return [op.Satisfy(source.item(world.live))]
    name = world.fresh_name()
    if way == "before its watch":
        return [op.Satisfy(name), op.Watch(name, keys, delay_ms)]
    watched: list[op.Operation] = [op.Watch(name, keys, delay_ms), op.Satisfy(name)]
    if way == "watched again":
        return [*watched, op.Watch(name, world.keys(source, most=2), delay_ms)]
    return [*watched, op.CancelForKey(keys[0]), op.Check(keys[0])]


def nested_callbacks(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a chain of operations, each of which completes the next one in its callback.

    The last callback acts or throws; later actions of the other callbacks show that the call went
    on.
    """
    length = source.item((2, 3, 4, 4, 9))
    names = [world.fresh_name() for _ in range(length)]
    key, last_key = world.keys(source, most=1)[0], source.item(("e", "f"))
    bystander = world.fresh_name()
    last = actions(world, source, (bystander,), (last_key,), most=2)
    if world.has(PurgatoryFeature.SCRIPT_THROW) and source.integer(0, 2):
        last = (*(last if source.integer(0, 1) else ()), op.Throw())
    delay_ms = source.integer(3, 6)
    watches = [
        op.Watch(bystander, (last_key,), delay_ms),
        op.Watch(names[-1], (key,), delay_ms, op.Script(on_complete=last)),
    ]
    for name, inner in reversed(tuple(pairwise(names))):
        acts: Actions = (op.ForceInside(inner),)
        acts += actions(world, source, (bystander,), (last_key,), most=2) * source.integer(0, 1)
        if world.has(PurgatoryFeature.SCRIPT_THROW) and source.integer(0, 5) == 5:
            acts = (*acts, op.Throw())
        watches.append(
            op.Watch(name, (source.item((key, "g")),), delay_ms, op.Script(on_complete=acts))
        )
    first = names[0]
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        return [*watches, op.Force(first)]
    first_watch = watches[-1]
    return [*watches, op.Satisfy(first), op.Check(first_watch.keys[0])]


def let_go(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that is completed, cancelled or timed out, and looks at it after that.

    Where the timer may keep the entry of a cancelled time-out, the look comes after its due time.
    """
    ways = ["checked", "second try", "first try", "timed out", "unseen"]
    if world.has(PurgatoryFeature.FORCE):
        ways.append("forced")
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        ways.append("cancelled")
    way, name, keys = source.item(ways), world.fresh_name(), world.keys(source, most=2)
    delay_ms = source.integer(1, 12) * world.configuration.tick_ms
    tries = {
        "first try": (COMPLETE,),
        "second try": (WAIT, COMPLETE),
        "unseen": (WAIT, WAIT, COMPLETE),
    }
    look = op.Reachable(name)
    operations: list[op.Operation] = [op.Watch(name, keys, delay_ms, op.Script(tries.get(way, ())))]
    if way in ("timed out", "unseen") and source.integer(0, 1):
        operations.append(look)  # nobody but the purgatory holds an operation that waits
    if way == "checked":
        operations.append(op.Satisfy(name))
    if way == "forced":
        operations.append(op.Force(name))
    if way == "timed out":
        operations += _timed_out(world, delay_ms)
    cancelled = way == "cancelled"
    operations += [op.CancelForKey(key) if cancelled else op.Check(key) for key in keys]
    if way == "first try" or world.profile.release_cancelled is ReleaseCancelled.AT_ONCE:
        operations.append(look)
    return [*operations, *_timed_out(world, delay_ms), look]


def _timed_out(world: PurgatoryWorld, delay_ms: int) -> list[op.Operation]:
    """Advance to the end of a delay that begins now, and run all that is due by then."""
    due_ms = world.due_tick(delay_ms) + world.configuration.tick_ms
    runs: list[op.Operation] = []
    if world.is_stepped:
        before_it = len(world.queue) + sum(due <= due_ms for due in _due_ticks(world))
        runs = [op.RunOne()] * (before_it + 1)
    return [op.Advance(due_ms), *runs]


def _due_ticks(world: PurgatoryWorld) -> Sequence[int]:
    return tuple(world.state.timer.store.due_ticks.values())


def refused_time_outs(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw operations whose time-outs the executor refuses, what befalls them, and their end."""
    names = [world.fresh_name() for _ in range(source.integer(1, 3))]
    key, delay_ms = world.keys(source, most=1)[0], source.integer(1, 12)
    watches: list[op.Operation] = [
        op.Watch(name, (key, *source.item(((), ("d",) if key != "d" else ()))), delay_ms)
        for name in names
    ]
    to_ms = world.due_tick(delay_ms) + source.item((0, 0, 1, world.configuration.tick_ms))
    if not world.may_refuse(to_ms):
        return []
    refused = op.Advance(to_ms, refuse=True)
    watches += [op.Satisfy(source.item(names))] * source.integer(0, 1)
    meanwhile: list[op.Operation] = [refused] * source.item((0, 0, 0, 7))
    for _ in range(source.integer(0, 3)):
        name = source.item(names)
        others: list[list[op.Operation]] = [[refused], [op.Satisfy(name), op.Check(key)]]
        others += [[op.Force(name)]] if world.has(PurgatoryFeature.FORCE) else []
        others += [[op.CancelForKey(key)]] if world.has(PurgatoryFeature.CANCEL_FOR_KEY) else []
        again: list[op.Operation] = [op.Watch(name, (key,), delay_ms)]
        others += [again] if world.has(PurgatoryFeature.REWATCH) else []
        meanwhile += source.item(others)
    later: list[op.Operation] = [op.Watch(world.fresh_name(), (key,), delay_ms)]
    ends: list[op.Operation] = [op.Advance(to_ms), op.Advance(to_ms + delay_ms + 1)]
    runs = [op.RunOne()] * (len(world.queue) + len(names) + 1)
    return [*watches, refused, *meanwhile, *later, *ends, *runs]
