"""Rare situations of size: many operations, under many keys or one, and far time-outs."""

from purgatory_conformance.generation.purgatory.histories import run_queue
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature

_CROWD_KEYS = tuple(f"k{number}" for number in range(64))
_LARGEST_DELAY_MS = 10**7


def crowd(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw many operations under one key or many; some are completed, then time passes.

    Fewer operations are watched where an inline executor runs all expiries in one step: the order
    inside a step is hard to follow.
    """
    count = source.integer(40, 60) if world.is_stepped else source.integer(14, 20)
    delay_ms = source.integer(5, 9)
    shared = source.integer(0, 1) == 0
    watches: list[op.Watch] = []
    for number in range(count):
        own = _CROWD_KEYS[(number * 5) % 64]
        keys = ("k0", own) if shared and own != "k0" else (own,)
        watches.append(op.Watch(world.fresh_name(), keys, delay_ms))
    way = source.item(("time-outs", "events", "check"))
    if way == "time-outs":
        ends: list[op.Operation] = []
    elif way == "check":
        ends = [op.Satisfy(watch.operation) for watch in watches[-8:]]
        ends.append(op.Check(watches[-1].keys[0]))
    else:
        ends = _completed(world, source, watches)
    due_tick = world.due_tick(delay_ms)
    ends.append(op.Advance(world.now if way == "events" else due_tick))
    if way == "time-outs":
        ends += run_queue(world, count)
        ends.append(op.Advance(due_tick))
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        ends += [op.CancelForKey(watch.keys[-1]) for watch in watches[-4:]]
        ends.append(op.CancelForKey("k0"))
    return [*watches, *ends]


def long_list(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw some 200 operations under one key, more than a part of a list may hold.

    Some are completed, a check passes the list, more are added, and a part is cancelled or times
    out.
    """
    count = source.integer(129, 200)
    delay_ms = source.integer(5, 9)
    first = [op.Watch(world.fresh_name(), ("k0",), delay_ms) for _ in range(count)]
    more = [
        op.Watch(world.fresh_name(), ("k0", "k1"), delay_ms) for _ in range(source.integer(20, 90))
    ]
    start, every = source.integer(0, 140), source.integer(1, 9)
    chosen = first[start::every]
    ends: list[op.Operation] = [op.Satisfy(watch.operation) for watch in chosen]
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1) == 0:
        ends = [op.Force(watch.operation) for watch in chosen]
    checks = [op.Check("k0") for _ in range(source.integer(1, 2))]
    last: list[op.Operation] = [op.Check("k1")]
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        last += [op.CancelForKey(source.item(("k0", "k1"))), op.Check("k0")]
    return [*first, *ends, *checks, *more, *last]


def _completed(
    world: PurgatoryWorld, source: Source, watches: list[op.Watch]
) -> list[op.Operation]:
    """Draw the completion of all but a few, through the last of their keys or by force."""
    forced = world.has(PurgatoryFeature.FORCE) and source.integer(0, 3) > 0
    ends: list[op.Operation] = []
    for watch in watches[source.integer(0, 2) :]:
        if forced:
            ends.append(op.Force(watch.operation))
        else:
            ends += [op.Satisfy(watch.operation), op.Check(watch.keys[-1])]
    return ends


def far_time_out(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a delay at the reach of a wheel, and advances to just before it is due, and to it."""
    configuration = world.configuration
    reaches = [configuration.tick_ms * configuration.wheel_size]
    while reaches[-1] * configuration.wheel_size <= _LARGEST_DELAY_MS:
        reaches.append(reaches[-1] * configuration.wheel_size)
    delay_ms = source.item(reaches) + source.integer(-1, 1)
    name, key = world.fresh_name(), source.item(("a", "b"))
    due_tick = world.due_tick(delay_ms)
    watch = op.Watch(name, (key,), delay_ms)
    return [watch, op.Advance(due_tick - 1), op.Advance(due_tick), *run_queue(world, 1)]
