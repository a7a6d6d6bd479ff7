"""Calls after a shutdown while operations with scripts wait: those done, those refused."""

from purgatory_conformance.generation.purgatory.histories import actions, run_queue
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import (
    Advance,
    Answer,
    Check,
    Force,
    Operation,
    Satisfy,
    Script,
    Shutdown,
    Throw,
    Watch,
    WatchInside,
)
from purgatory_spec.profiles import PurgatoryFeature

WAIT, COMPLETE, THROW = Answer.WAIT, Answer.COMPLETE, Answer.THROW


def outlive_shutdown(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Draw operations with scripts that wait across the shutdown and are completed behind it."""
    keys = world.keys(source, most=3)
    bystander, expiring = world.fresh_name(), world.fresh_name()
    delay_ms = source.integer(1, 3)
    operations: list[Operation] = [
        Watch(bystander, (keys[0],), delay_ms + 4),
        Watch(expiring, (keys[-1],), delay_ms, Script(on_expiration=_acts(world, source, keys))),
    ]
    owners = [
        Watch(world.fresh_name(), _shuffled(keys, source), delay_ms + 4, script)
        for script in _scripts(world, source, bystander, keys)
    ]
    done = world.fresh_name()
    operations += [*owners, Watch(done, (keys[0],), delay_ms, Script((WAIT, COMPLETE)))]
    operations += [Advance(world.due_tick(delay_ms)), Shutdown()]
    ends = [_end(world, source, owner) for owner in owners]
    if world.has(PurgatoryFeature.REWATCH):
        known = source.item((bystander, done, owners[0].operation))
        ends.append([Watch(known, keys[:1], delay_ms), Watch(done, keys[-1:], delay_ms)])
    ends.append([Watch(world.fresh_name(), () if source.integer(0, 1) else keys, 1)])
    ends.append(run_queue(world, 2))
    while ends:
        operations += ends.pop(source.integer(0, len(ends) - 1))
    return [*operations, *(Check(key) for key in keys)]


def _shuffled(keys: tuple[str, ...], source: Source) -> tuple[str, ...]:
    at = source.integer(0, len(keys) - 1)
    return keys[at:] + keys[:at]


def _acts(
    world: PurgatoryWorld, source: Source, keys: tuple[str, ...]
) -> tuple[WatchInside | Throw, ...]:
    """Draw the actions of a callback that watches or throws, of those the subject offers."""
    if world.has(PurgatoryFeature.SCRIPT_WATCH) and source.integer(0, 1):
        return (WatchInside(world.fresh_name(), keys[:1], 2),)
    return (Throw(),) if world.has(PurgatoryFeature.SCRIPT_THROW) else ()


def _scripts(
    world: PurgatoryWorld, source: Source, bystander: str, keys: tuple[str, ...]
) -> list[Script]:
    """Draw scripts of operations that outlive the shutdown: acting callbacks, throwing tries."""
    scripts = [Script(on_complete=actions(world, source, (bystander,), keys, most=2))]
    if world.has(PurgatoryFeature.SCRIPT_WATCH):
        scripts.append(Script(on_complete=(WatchInside(world.fresh_name(), keys[-1:], 2),)))
    if world.has(PurgatoryFeature.SCRIPT_THROW) and source.integer(0, 1):
        scripts.append(Script((WAIT, WAIT, THROW, WAIT)))
    return scripts


def _end(world: PurgatoryWorld, source: Source, owner: Watch) -> list[Operation]:
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        return [Force(owner.operation)]
    return [Satisfy(owner.operation), Check(source.item(owner.keys))]
