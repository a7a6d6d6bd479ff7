"""Situations of a timer with dozens of tasks, hundreds, or more than a thousand."""

from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer.situations import span_ms
from purgatory_conformance.generation.timer.world import World
from purgatory_spec import operations as op
from purgatory_spec.profiles import Executor, Feature

_POWERS = (16, 32, 64, 128, 256)
"""The numbers of waiting tasks at which a count or a table in parts of this size is full."""


def crowd(world: World, source: Source) -> list[op.Operation]:
    """Draw a few tasks or hundreds, of one tick or of many, and advances to some or all of them.

    So many may wait that their number is a power of two, with those that wait already. Else some
    are cancelled or moved.
    """
    power = source.item(_POWERS) - len(world.pending)
    is_power = source.integer(0, 1) == 0 and power > 0
    count = power if is_power else source.integer(2, 7) * source.item((3, 10, 10, 30, 60))
    widths = (0, 1, span_ms(world), 3 * span_ms(world), 30 * span_ms(world))
    width = source.item((0, *widths, 0) if is_power else widths)
    delay_ms = source.integer(1, 2 * span_ms(world))
    delays = [delay_ms + source.integer(0, width) for _ in range(count)]
    adds: list[op.Operation] = [op.Add(world.fresh_name(), delay) for delay in delays]
    most = [add for place, add in enumerate(adds) if place % 3]
    some = source.item((adds[:0], adds[::3], adds[1 : count // 2], most, most, adds[9:]))
    names = [] if is_power else [add.task for add in some if isinstance(add, op.Add)]
    if world.has(Feature.READD, Feature.CHANGE_DELAY) and source.integer(0, 2) == 0:
        adds += [op.Add(name, delay_ms + source.integer(0, width)) for name in names]
    elif world.has(Feature.CANCEL):
        adds += map(op.Cancel, names)
    quarters = [delay_ms + width * part // 4 for part in range(5)]
    readings = source.item(([max(delays)], [max(delays)], quarters[2:3], quarters, quarters))
    advances = [op.Advance(world.now + reading) for reading in readings]
    runs: list[op.Operation] = []
    if world.profile.executor is Executor.STEPPED:
        runs = [op.RunOne()] * count
    return [*adds, *advances, *runs]


def very_many(world: World, source: Source) -> list[op.Operation]:
    """Draw more tasks than a timer may hand over, or an executor take, in one go.

    In one step so many runs in any order are hard to follow: where running is no step, each task
    has a tick of its own.
    """
    delay_ms, tick_ms = source.integer(1, span_ms(world)), world.configuration.tick_ms
    is_stepped = world.profile.executor is Executor.STEPPED
    delays = [
        delay_ms + (0 if is_stepped else place * tick_ms)
        for place in range(source.integer(1030, 1200))
    ]
    adds: list[op.Operation] = [op.Add(world.fresh_name(), each) for each in delays]
    due_ms = world.now + delays[-1] + tick_ms
    return [*adds, op.Advance(due_ms), *([op.RunOne()] * len(adds) if is_stepped else [])]
