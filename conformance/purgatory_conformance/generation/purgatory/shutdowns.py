"""Calls after a shutdown while operations with scripts wait: those done, those refused."""

from purgatory_conformance.generation.purgatory.histories import actions, run_queue
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature

WAIT, COMPLETE, THROW = op.Answer.WAIT, op.Answer.COMPLETE, op.Answer.THROW


def outlive_shutdown(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw operations with scripts that wait across the shutdown and are completed behind it."""
    keys = world.keys(source, most=3)
    bystander, expiring = world.fresh_name(), world.fresh_name()
    delay_ms = source.integer(1, 3)
    operations: list[op.Operation] = [
        op.Watch(bystander, (keys[0],), delay_ms + 4),
        op.Watch(
            expiring, (keys[-1],), delay_ms, op.Script(on_expiration=_acts(world, source, keys))
        ),
    ]
    owners = [
        op.Watch(world.fresh_name(), _shuffled(keys, source), delay_ms + 4, script)
        for script in _scripts(world, source, bystander, keys)
    ]
    done = world.fresh_name()
    operations += [*owners, op.Watch(done, (keys[0],), delay_ms, op.Script((WAIT, COMPLETE)))]
    operations += [op.Advance(world.due_tick(delay_ms)), op.Shutdown()]
    ends = [_end(world, source, owner) for owner in owners]
    if world.has(PurgatoryFeature.REWATCH):
        known = source.item((bystander, done, owners[0].operation))
        ends.append([op.Watch(known, keys[:1], delay_ms), op.Watch(done, keys[-1:], delay_ms)])
    ends.append([op.Watch(world.fresh_name(), () if source.integer(0, 1) else keys, 1)])
    ends.append(run_queue(world, 2))
    while ends:
        operations += ends.pop(source.integer(0, len(ends) - 1))
    return [*operations, *(op.Check(key) for key in keys)]


def _shuffled(keys: tuple[str, ...], source: Source) -> tuple[str, ...]:
    at = source.integer(0, len(keys) - 1)
    return keys[at:] + keys[:at]


def _acts(
    world: PurgatoryWorld, source: Source, keys: tuple[str, ...]
) -> tuple[op.WatchInside | op.Throw, ...]:
    """Draw the actions of a callback that watches or throws, of those the subject offers."""
    if world.has(PurgatoryFeature.SCRIPT_WATCH) and source.integer(0, 1):
        return (op.WatchInside(world.fresh_name(), keys[:1], 2),)
    return (op.Throw(),) if world.has(PurgatoryFeature.SCRIPT_THROW) else ()


def _scripts(
    world: PurgatoryWorld, source: Source, bystander: str, keys: tuple[str, ...]
) -> list[op.Script]:
    """Draw scripts of operations that outlive the shutdown: acting callbacks, throwing tries."""
    scripts = [op.Script(on_complete=actions(world, source, (bystander,), keys, most=2))]
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        scripts.append(op.Script(on_complete=(op.WatchInside(world.fresh_name(), keys[-1:], 2),)))
    if world.has(PurgatoryFeature.SCRIPT_THROW) and source.integer(0, 1):
        scripts.append(op.Script((WAIT, WAIT, THROW, WAIT)))
    return scripts


def _end(world: PurgatoryWorld, source: Source, owner: op.Watch) -> list[op.Operation]:
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        return [op.Force(owner.operation)]
    return [op.Satisfy(owner.operation), op.Check(source.item(owner.keys))]
