"""Situations of size: many operations, under many keys or one, and far time-outs."""

from purgatory_conformance.generation.purgatory.histories import run_queue
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec import operations as op
from purgatory_spec.profiles import PurgatoryFeature

_COUNTS = (9, 16, 17, 33, 64, 65, 101, 101, 128, 129, 201, 256, 257)
"""Sizes of a part, a table or a batch that is full, and sizes just beyond."""

_LARGE_COUNTS = (33, 101, 128, 129, 256, 256, 256, 257)
"""The larger of these sizes, which cost little where everything ends in one step."""

_INLINE_COUNTS = (9, 9, 17, 17, 17, 101)
"""Smaller crowds, whose time-outs an inline executor runs in one step: their order is free."""

_MANY_KEYS = (9, 9, 16, 17, 33, 64, 65, 101, 129, 201, 256, 257, 513, 1025)
"""Numbers of different keys of one operation, which cost little."""

_MOST_CHECKS = 20

_UNITS_MS = (60_000, 3_600_000, 86_400_000)
"""A minute, an hour and a day, ms."""


def crowd(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw many operations under one key, a few or as many; some are completed, the rest time out.

    A check passes a list, more are added, and a purge begins or a key is cancelled meanwhile.
    """
    count = source.item(_COUNTS if world.is_stepped else _INLINE_COUNTS)
    width, delay_ms = source.item((1, 1, 3, 500)), source.integer(5, 9)
    shared = source.item(((), (), ("shared",)))

    def watches(number: int) -> list[op.Watch]:
        keys = ((f"k{each % width}", *shared) for each in range(number))
        return [op.Watch(world.fresh_name(), some, delay_ms) for some in keys]

    if source.integer(0, 1):
        # One check completes all, which leaves no time-outs for an inline executor to run.
        count, width = source.item(_LARGE_COUNTS), 1
        swept = watches(count)
        key = swept[0].keys[-1]
        return [*swept, *(op.Satisfy(watch.operation) for watch in swept), op.Check(key)]
    first, more = watches(count), watches(source.item((0, 0, 20)))
    start, stop = source.integer(0, count // 2) * source.integer(0, 1), source.item((count, 34, 70))
    every = source.item((1, 1, 2, 3, 9, count, count))
    first_key, last_key = first[0].keys[0], first[-1].keys[-1]
    last: op.Operation = op.Check(first_key)
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY) and source.integer(0, 1):
        last = op.CancelForKey(source.item((first_key, last_key)))
    purged: list[op.Operation] = [op.Advance(world.now)] * source.integer(0, 1)
    middle = [*more, op.Check(last_key), *purged, *[last] * source.item((0, 1, 1))]
    runs = run_queue(world, source.item((0, 3, min(count, 40))))
    due: op.Operation = op.Advance(world.due_tick(delay_ms))
    return [
        *first,
        *_completed(world, source, first[start:stop:every]),
        *middle,
        due,
        *runs,
        due,
        last,
    ]


def watched_often(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw one operation that is watched again and again, the last time a little later.

    It is due a delay after its last watch, or completed by a check that passes all its entries.
    """
    count, name, key = source.item(_LARGE_COUNTS), world.fresh_name(), source.item(("a", "b"))
    delay_ms = source.integer(5, 9) * world.configuration.tick_ms
    watch, later_ms = op.Watch(name, (key,), delay_ms), world.now + 2 * world.configuration.tick_ms
    ends: list[op.Operation] = [
        op.Advance(world.due_tick(delay_ms)),
        op.Advance(world.due_tick(delay_ms) + 3 * world.configuration.tick_ms),
        *run_queue(world, 1),
    ]
    if source.integer(0, 2) == 0:
        ends = [op.Satisfy(name), op.Check(key)]
    return [*[watch] * count, op.Advance(later_ms), watch, *ends]


def many_keys(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a few operations under many keys each; some are completed, and a purge begins."""
    delay_ms, count = source.integer(2, 9), source.item(_MANY_KEYS)
    watches = [
        op.Watch(world.fresh_name(), tuple(f"k{each + first}" for each in range(count)), delay_ms)
        for first in (0, 0, count // 2)[: source.integer(1, 3)]
    ]
    ends = _completed(world, source, watches[source.integer(0, 1) :])
    checks: list[op.Operation] = [op.Check(f"k{key}") for key in (count - 1, 0, count // 2)]
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        checks.append(op.CancelForKey(source.item(watches[0].keys)))
    checks.insert(source.integer(0, 3), op.Advance(world.now))
    due_tick = world.due_tick(delay_ms)
    return [*watches, *ends, *checks, op.Advance(due_tick), *run_queue(world, 3)]


def _completed(
    world: PurgatoryWorld, source: Source, watches: list[op.Watch]
) -> list[op.Operation]:
    """Draw the completion of these by force, one by one by a check, or by a check that is next."""
    # Each check passes a whole list: one for each of a crowd would take long.
    ways = ["satisfy", "check one by one"] if len(watches) <= _MOST_CHECKS else ["satisfy"]
    if world.has(PurgatoryFeature.FORCE):
        ways += ["force"] * 2
    way = source.item(ways)
    if way == "force":
        return [op.Force(watch.operation) for watch in watches]
    ends: list[op.Operation] = []
    for watch in watches:
        ends.append(op.Satisfy(watch.operation))
        if way != "satisfy":
            ends.append(op.Check(watch.keys[-1]))
    return ends


def far_time_out(world: PurgatoryWorld, source: Source) -> list[op.Operation]:
    """Draw a far delay, and advances to just before it is due, and to it.

    It is about the reach of a wheel, a power of two or ten, or a unit of time.
    """
    configuration = world.configuration
    delays = [
        *_UNITS_MS * 3,
        *(2**power for power in range(5, 53)),
        *(10**power for power in range(2, 16)),
    ]
    reach = configuration.tick_ms * configuration.wheel_size
    while reach <= world.reach_ms:
        delays += [reach] * 3
        reach *= configuration.wheel_size
    delay_ms = source.item([delay for delay in delays if delay < world.reach_ms])
    delay_ms = delay_ms + source.integer(-1, 1)
    name, key = world.fresh_name(), source.item(("a", "b"))
    due_tick = world.due_tick(delay_ms)
    watch = op.Watch(name, (key,), delay_ms)
    return [watch, op.Advance(due_tick - 1), op.Advance(due_tick), *run_queue(world, 1)]
