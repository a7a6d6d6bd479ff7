"""Situations of a purgatory: what to do next so that certain rules show.

A situation that cannot arise at present makes nothing. What a script does in callbacks stands in
``callbacks``.
"""

from purgatory_conformance.generation.purgatory.histories import (
    Actions,
    actions,
    run_queue,
    time_out,
)
from purgatory_conformance.generation.purgatory.world import MOST_OPERATIONS, PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature, PurgeDue, RefusedTask

WAIT, COMPLETE, THROW = op.Answer.WAIT, op.Answer.COMPLETE, op.Answer.THROW


def watch(world: PurgatoryWorld, source: Source, *tries: op.Answer) -> list[op.Operation]:
    """Watch a fresh operation under some keys; check a key where there are enough of them."""
    if world.names >= MOST_OPERATIONS and world.used_keys:
        return check_a_key(world, source)
    keys, delay_ms = world.keys(source), world.delay(source)
    return [op.Watch(world.fresh_name(), keys, delay_ms, op.Script(tries=tries))]


def watch_waiting(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that waits; of those due at once, half by an advance that comes at once."""
    drawn = watch(world, source)
    if any(isinstance(each, op.Watch) and each.delay_ms <= 0 for each in drawn):
        drawn += [op.Advance(world.now)] * source.integer(0, 1)
    return drawn


def watch_first_try(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that the first try completes."""
    return watch(world, source, COMPLETE)


def watch_second_try(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that the second try completes."""
    return watch(world, source, WAIT, COMPLETE)


def watch_later_try(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that becomes completable by itself, and checks until it is."""
    waits = source.integer(2, 4)
    watched = watch(world, source, *([WAIT] * waits), COMPLETE)
    keys = watched[0].keys if isinstance(watched[0], op.Watch) else world.used_keys
    checks = [op.Check(source.item(keys)) for _ in range(source.integer(1, waits))] if keys else []
    return [*watched, *checks]


def watch_first_throws(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation whose first try throws."""
    return watch(world, source, THROW, source.item((WAIT, COMPLETE)))


def watch_second_throws(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation whose second try throws, and that its time-out or an event completes."""
    watched = watch(world, source, WAIT, THROW, WAIT)
    first = watched[0]
    if not isinstance(first, op.Watch) or source.integer(0, 2) == 0:
        return watched
    if source.integer(0, 1):
        return [first, op.Advance(world.due_tick(first.delay_ms))]
    return [first, op.Satisfy(first.operation), op.Check(source.item(first.keys))]


def check_throws(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation that throws in a check, between others under the same key."""
    key = world.keys(source, most=1)[0]
    tries = ((), (WAIT, WAIT, THROW, WAIT), (), (WAIT, WAIT, COMPLETE), (WAIT, WAIT, THROW))
    operations: list[op.Operation] = []
    for _ in range(source.integer(1, 4)):
        script = op.Script(tries=source.item(tries))
        operations.append(op.Watch(world.fresh_name(), (key,), world.delay(source), script))
    thrower = op.Script(tries=(WAIT, WAIT, THROW, source.item((WAIT, COMPLETE))))
    at = source.integer(0, len(operations))
    operations.insert(at, op.Watch(world.fresh_name(), (key,), world.delay(source), thrower))
    return [*operations, op.Check(key), op.Check(key)]


_TIMES_AT_ONCE = (17, 65, 129, 257, 513, 1025)
"""Numbers of further entries of one operation under one key, from one watch."""

_INSIDE_TRIES = frozenset({PurgatoryFeature.SCRIPT_TRY, PurgatoryFeature.SCRIPT_MEANWHILE})
"""Features by which a try checks the key again: at every entry, in as many ways as there are."""


def watch_twice_under_a_key(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation under a key that is given twice, or very often, and a check of that key.

    The check completes the operation at the first entry, at the second entry (the first entry
    stays), or not at all. Behind very many entries, the check completes another operation.
    """
    keys = world.keys(source, most=2)
    is_long = source.integer(0, 3) == 0 and not _INSIDE_TRIES & world.profile.features
    times = source.item(_TIMES_AT_ONCE) if is_long else 1
    doubled = keys + (source.item(keys),) * times
    name, delay_ms = world.fresh_name(), world.delay(source)
    ways = ["waits", "first entry", "second entry"]
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        ways.append("cancelled")
    way = source.item(ways)
    script = op.Script((WAIT, WAIT, WAIT, COMPLETE)) if way == "second entry" else op.Script()
    satisfied = [op.Satisfy(name)] if way == "first entry" else []
    behind: list[op.Operation] = []
    if is_long:
        other = world.fresh_name()
        behind = [op.Watch(other, doubled[-1:], delay_ms), op.Satisfy(other)]
    first = op.Watch(name, doubled, delay_ms, script)
    if way == "cancelled":
        # Its other key keeps it; alone, it is watched no longer.
        ends = time_out(world, world.due_tick(delay_ms))
        return [first, *behind, op.CancelForKey(doubled[-1]), *ends]
    return [first, *behind, *satisfied, op.Check(doubled[-1])]


def watch_no_keys(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an operation watched under no key, then perhaps under keys: the first delay stays."""
    name, delay_ms = world.fresh_name(), world.delay(source)
    refused = op.Watch(name, (), delay_ms)
    if not world.has(PurgatoryFeature.REWATCH) or source.integer(0, 2):
        return [refused]
    again = op.Watch(name, world.keys(source, most=2), delay_ms + source.integer(1, 3))
    return [refused, again, op.Advance(world.due_tick(delay_ms))]


def watch_again(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Watch again what waits, after some time, and see when it expires."""
    live = world.live
    if not live:
        return []
    name = source.item([*live, *(each for each in world.queue if each in live)])
    delay_ms = world.state.operations[name].delay_ms
    operations: list[op.Operation] = []
    if world.has(PurgatoryFeature.ELAPSE) and source.integer(0, 1):
        operations.append(op.Elapse(world.now + source.integer(1, 5)))
    old = world.keys_of(name) or ["a"]
    keys = (source.item(old),) if source.integer(0, 1) else world.keys(source)
    given = delay_ms if source.integer(0, 3) else delay_ms + 3
    operations.append(op.Watch(name, keys, given))
    if source.integer(0, 1):
        operations.append(op.Advance(world.due_tick(delay_ms)))
    return operations + run_queue(world, source.integer(0, 1)) * (name in world.queue)


def watch_completed(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a completed operation, watched again."""
    if not world.completed:
        return []
    name = source.item(world.completed)
    return [op.Watch(name, world.keys(source), world.state.operations[name].delay_ms)]


def check_a_key(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Check a key under which somebody waits or is stale."""
    return [op.Check(source.item(world.used_keys))] if world.used_keys else []


def satisfy_and_check(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an event: an operation becomes completable, and one of its keys is checked."""
    if not world.live:
        return []
    name = source.item(world.live)
    return [op.Satisfy(name), op.Check(source.item(world.keys_of(name)))]


def check_stale(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Check a key under which something is stale."""
    completed = world.state.completed
    keys = [key for key in world.used_keys if completed & set(world.state.lists[key])]
    return [op.Check(source.item(keys))] if keys else []


def check_unknown(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Check a key that nobody waits under, or any other."""
    return [op.Check(source.item(("z", *world.keys(source, most=1))))]


def force_waiting(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Force an operation that waits."""
    return [op.Force(source.item(world.live))] if world.live else []


def force_completed(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a force of a completed operation."""
    return [op.Force(source.item(world.completed))] if world.completed else []


def force_unknown(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Force an operation that was never watched, and perhaps watch it after that."""
    forced = op.Force(world.fresh_name())
    if not world.has(PurgatoryFeature.REWATCH) or source.integer(0, 1):
        return [forced]
    return [forced, op.Watch(forced.operation, world.keys(source), world.delay(source))]


def cancel_a_key(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Cancel a key under which somebody waits or is stale."""
    return [op.CancelForKey(source.item(world.used_keys))] if world.used_keys else []


def cancel_and_wait(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Cancel some keys of an operation, then advance to its time-out and check what is left."""
    if not world.live or not world.due_ticks:
        return []
    keys = world.keys_of(source.item(world.live))
    kept = source.integer(0, len(keys) - 1)
    left = keys[:kept] or keys[:1]
    cancels = [op.CancelForKey(key) for key in keys[kept:]]
    return [*cancels, op.Advance(max(world.now, world.due_ticks[-1])), op.Check(left[0])]


def cancel_unknown(_world: PurgatoryWorld, _source: Source) -> list[op.Operation]:
    """Cancel a key that nobody waits under."""
    return [op.CancelForKey("z")]


def advance_to_next(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Advance to the next time-out, or to just before or behind it; the executor may refuse it."""
    if not world.due_ticks:
        return []
    to_ms = max(world.now, world.due_ticks[0] + source.item((0, 0, 0, -1, 1)))
    if world.is_stepped and world.has(PurgatoryFeature.REFUSE) and world.may_refuse(to_ms):
        refuse = source.integer(0, 7) == 7
        return [*[op.Advance(to_ms, refuse=True)] * refuse, op.Advance(to_ms)]
    return [op.Advance(to_ms)]


def advance_by(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Advance by a little, or not at all."""
    return [op.Advance(world.now + source.integer(0, 6))]


def let_time_pass(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a move of the clock without an advance."""
    return [op.Elapse(world.now + source.integer(0, 6))]


def run_one(_world: PurgatoryWorld, _source: Source) -> list[op.Operation]:
    """Draw a run of one expiry."""
    return [op.RunOne()]


def run_all(world: PurgatoryWorld, _source: Source) -> list[op.Operation]:
    """Run all that the executor has."""
    return [op.RunOne() for _ in world.queue]


def mass_expiry(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw many operations that expire together; a later advance sees what they leave behind."""
    delay_ms = source.integer(1, 5)
    keys = world.keys(source, most=2)
    most = world.configuration.purge_interval + 3
    count = source.integer(2, max(2, min(most, MOST_OPERATIONS)))
    watches = [op.Watch(world.fresh_name(), keys, delay_ms) for _ in range(count)]
    due_tick = world.due_tick(delay_ms)
    runs: list[op.Operation] = []
    if world.is_stepped:
        due = [tick for tick in world.state.timer.store.due_ticks.values() if tick <= due_tick]
        runs = [op.RunOne() for _ in range(len(world.queue) + len(due) + count)]
    later = [op.Advance(due_tick + source.integer(0, 2)) for _ in range(source.integer(1, 2))]
    return [*watches, op.Advance(due_tick), *runs, *later]


def lost_expiry(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw an expiry that is handed over, and a completion before it runs."""
    waiting = [name for name in world.queue if name in world.live]
    operations: list[op.Operation] = []
    if waiting:
        name, keys = source.item(waiting), world.keys_of(source.item(waiting))
    else:
        name, delay_ms = world.fresh_name(), source.integer(1, 5)
        keys = list(world.keys(source))
        operations = [
            op.Watch(name, tuple(keys), delay_ms),
            op.Advance(world.due_tick(delay_ms)),
        ]
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        operations.append(op.Force(name))
    elif keys:
        operations += [op.Satisfy(name), op.Check(source.item(keys))]
    return operations + [op.RunOne() for _ in range(len(world.queue) + 1)]


def make_stale(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw operations under several keys that are completed through one, and an advance."""
    count = source.integer(1, max(1, min(world.configuration.purge_interval + 1, 6)))
    operations: list[op.Operation] = []
    for _ in range(count):
        name, keys = world.fresh_name(), world.keys(source, most=4)
        operations += [
            op.Watch(name, keys, world.delay(source)),
            op.Satisfy(name),
            op.Check(keys[0]),
        ]
    return [*operations, op.Advance(world.now)]


def stale_at_the_interval(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw as many stale entries as the interval allows, or one more, under one or more keys.

    Where half of what lives may be stale, some more is watched before.
    """
    operations: list[op.Operation] = []
    live = world.state.live_entries
    if world.profile.purge_due is PurgeDue.AMORTISED:
        for _ in range(source.integer(0, 3)):
            keys = world.keys(source)
            live += len(keys)
            operations.append(op.Watch(world.fresh_name(), keys, source.integer(20, 40)))
    wanted = world.model.interval(live) - world.state.stale_entries
    count = max(0, min(wanted, 7)) + source.integer(0, 1)
    script, delay_ms = op.Script(tries=(WAIT, COMPLETE)), source.integer(1, 3)
    while count > 0:
        keys = world.keys(source, most=min(3, count))
        if world.has(PurgatoryFeature.DUPLICATE_KEYS) and count > 1 and source.integer(0, 2) == 0:
            keys = keys[:1] * 2
        count -= len(keys)
        operations.append(op.Watch(world.fresh_name(), keys, delay_ms, script))
    return [*operations, op.Advance(world.now)]


def shut_down(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a shutdown while operations wait, with scripts and without, and one's expiry is queued.

    The executor may have refused the expiry. What was watched before, and what comes after, is as
    in any case.
    """
    keys, delay_ms = world.keys(source), source.integer(2, 6)
    waiting = [world.fresh_name() for _ in range(source.integer(1, 3))]
    acts: Actions = (op.Throw(),) if world.has(PurgatoryFeature.SCRIPT_THROW) else ()
    if not acts or source.integer(0, 2):
        acts = actions(world, source, waiting, keys, most=2)
    if world.has(PurgatoryFeature.SCRIPT_WATCH) and source.integer(0, 1):
        acts = (op.WatchInside(world.fresh_name(), keys[-1:], 2),)
    scripts = [op.Script(), op.Script(on_complete=acts), op.Script(on_expiration=acts)]
    if world.has(PurgatoryFeature.SCRIPT_THROW):
        scripts.append(op.Script((WAIT, WAIT, THROW, WAIT)))
    watches = [
        op.Watch(name, world.keys(source), delay_ms, source.item(scripts)) for name in waiting
    ]
    due = op.Watch(world.fresh_name(), keys[:1], 1, source.item(scripts))
    is_kept = world.is_stepped and world.profile.refused_task is RefusedTask.KEPT
    refuse = is_kept and world.has(PurgatoryFeature.REFUSE) and source.integer(0, 2) == 0
    now: list[op.Operation] = [op.Advance(world.due_tick(1), refuse=refuse), op.Shutdown()]
    ended: list[list[op.Operation]] = [[op.Shutdown()]]
    ended.append([op.Watch(world.fresh_name(), source.item((keys, ())), 1)])
    ended.append(time_out(world, world.due_tick(delay_ms)))
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        ended.append([op.CancelForKey(source.item((*keys, "z")))])
    if world.has(PurgatoryFeature.FORCE):
        ended.append([op.Force(world.fresh_name())] * source.integer(1, 2))
    for name in waiting:
        ended.append([op.Satisfy(name), op.Check(source.item(keys))])
        if world.has(PurgatoryFeature.FORCE):
            ended.append([op.Force(name)])
        if world.has(PurgatoryFeature.REWATCH):
            ended.append([op.Watch(name, keys[:1], delay_ms)])
    while ended:
        now += ended.pop(source.integer(0, len(ended) - 1))
    return [*watches, due, *now, *(op.Check(key) for key in keys)]
