"""Situations of a timer with one task or a few, in which certain rules show."""

from collections.abc import Callable, Sequence

from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer.world import World
from purgatory_model.arithmetic import floor_to, level_end, tick_of_level
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    LARGEST_LONG,
    LARGEST_SAFE_INTEGER,
    Executor,
    Feature,
    LargerDelay,
    NegativeDelay,
    ReleaseCancelled,
    goes_far,
)

_LATE_MS = (2**31 - 1, 2**31, 3 * 2**30, 2**32, 2**32 + 1, 2**40, 2**40 + 3 * 2**30)
"""The times by which an advance may come late, ms: about the ends of integers, and between."""


_FAR_BELOW = (-(2**15), -(2**31), -(2**32), -(2**52))
"""Delays below zero at which integers end, ms."""

_UNITS_MS = (1_000, 60_000, 3_600_000, 86_400_000, 2**32 - 2)
"""A second, a minute, an hour, a day, and two of the longest spans of a signed integer, ms."""

_LATEST_MS = 2**50
"""The latest reading to which a late advance leads, ms."""


Make = Callable[[World, Source], Sequence[op.Operation]]


def _delay_for(world: World, task: str, delay_ms: int) -> int:
    """Return the delay for adding a known task: the previous delay where delays cannot change."""
    if task in world.delays and not world.has(Feature.CHANGE_DELAY):
        return world.delays[task]
    return delay_ms


def _name(world: World, source: Source) -> str:
    if world.names < world.most_tasks or not world.delays or not world.has(Feature.READD):
        return world.fresh_name()
    return source.item(sorted(world.delays))


def _add(world: World, source: Source, delay_ms: int) -> op.Add:
    task = _name(world, source)
    return op.Add(task, _delay_for(world, task, delay_ms))


def span_ms(world: World) -> int:
    """Return the span of the lowest level, ms."""
    return world.configuration.tick_ms * world.configuration.wheel_size


def short(world: World, source: Source) -> list[op.Operation]:
    """Draw a task of a delay within about two turns of the lowest level."""
    return [_add(world, source, source.integer(1, 2 * span_ms(world)))]


def far(world: World, source: Source) -> list[op.Operation]:
    """Draw a task of a delay that may need further levels."""
    size = world.configuration.wheel_size
    return [_add(world, source, source.integer(1, span_ms(world) * size * min(size, 6)))]


def zero(world: World, source: Source) -> list[op.Operation]:
    """Draw a task without a delay."""
    return [_add(world, source, 0)]


def negative(world: World, source: Source) -> list[op.Operation]:
    """Draw a task of a delay below zero, seldom of one below the least of some integers."""
    # A timer may be asked in a unit in which neither a longer delay nor its negative can be said.
    far = [each for each in _FAR_BELOW if -each < world.profile.largest_delay_ms] or [0]
    delay_ms = source.item(far) if source.integer(0, 7) == 7 else 0
    return [_add(world, source, delay_ms - source.integer(1, 2 * span_ms(world)))]


def boundary(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that is due about the end of a level's span, or about reading 0."""
    tick, size = world.configuration.tick_ms, world.configuration.wheel_size
    level = source.integer(1, 4)
    end = level_end(world.own_clock, tick_of_level(level, tick, size), size)
    if world.now < 0 and source.integer(0, 1):
        end = 0
    expiry = end + source.item((0, -1, 1, -tick, tick))
    return [_add(world, source, max(expiry - world.now, 0))]


def same_tick(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that is due in the tick of a pending one."""
    due_ticks = [due for due in world.due_ticks_within_reach if due >= world.now]
    if not due_ticks:
        return []
    due_tick = source.item(due_ticks)
    inside = source.integer(0, world.configuration.tick_ms - 1)
    return [_add(world, source, due_tick + inside - world.now)]


def from_two_levels(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that will come down into a bucket, and one added to that bucket before."""
    tick, size = world.configuration.tick_ms, world.configuration.wheel_size
    if size < 3:
        return []
    # The last tick before the bucket of the second level from which the task comes down.
    near = floor_to(world.now, span_ms(world)) + 2 * span_ms(world) - tick
    far = near + tick * source.integer(2, size - 1)
    names = [world.fresh_name() for _ in range(3)]
    return [
        op.Add(names[0], near - world.now),
        op.Add(names[1], far - world.now),
        op.Advance(near),
        op.Add(names[2], far - near),
        op.Advance(far),
    ]


def idle_then_add(world: World, source: Source) -> list[op.Operation]:
    """Draw an add after time has passed without an advance."""
    to_ms = world.now + source.integer(1, 3 * span_ms(world))
    task = _name(world, source)
    return [op.Elapse(to_ms), op.Add(task, _delay_for(world, task, source.integer(0, 2)))]


def let_time_pass(world: World, source: Source) -> list[op.Operation]:
    """Draw a later reading of the clock, without an advance."""
    return [op.Elapse(world.now + source.integer(0, span_ms(world)))]


def huge(world: World, source: Source) -> list[op.Operation]:
    """Draw a delay about the largest one; rarely one at the end of 64-bit arithmetic."""
    largest = world.profile.largest_delay_ms
    delays = [largest, largest - 1, largest + 1, 2**31 - 1, 2**31, 2**40, 2**53 - 1]
    greatest = LARGEST_SAFE_INTEGER + 1 if world.has(Feature.INT64) else LARGEST_SAFE_INTEGER
    if world.has(Feature.INT64) and source.integer(0, 4) == 4:
        delays = [2**61, 2**62, 2**62 + 1, LARGEST_LONG - 1, LARGEST_LONG]
        greatest = LARGEST_LONG
    usable = [delay for delay in delays if 0 < delay <= greatest]
    return [op.Add(world.fresh_name(), source.item(usable))]


def advance_to_next(world: World, source: Source) -> list[op.Operation]:
    """Draw an advance to the next due tick, or to a millisecond beside it."""
    next_due = world.next_due
    if next_due is None or next_due > world.now + world.reach_ms:
        return []
    offset = source.item((0, 0, 0, -1, 1))
    return [op.Advance(max(next_due + offset, world.now))]


def advance_by(world: World, source: Source) -> list[op.Operation]:
    """Draw an advance by up to two spans."""
    return [op.Advance(world.now + source.integer(0, 2 * span_ms(world)))]


def advance_to_all(world: World, source: Source) -> list[op.Operation]:
    """Draw an advance to all tasks within reach, or one that comes very late."""
    last_ms = world.last_due
    late_ms = [late for late in _LATE_MS if last_ms + late <= _LATEST_MS]
    if late_ms and world.due_ticks_within_reach and source.integer(0, 3) == 3:
        return [op.Advance(last_ms + source.item(late_ms))]
    return [op.Advance(last_ms + source.integer(0, 1))]


def run_one(_world: World, _source: Source) -> list[op.Operation]:
    """Return one run of the executor."""
    return [op.RunOne()]


def run_all(world: World, _source: Source) -> list[op.Operation]:
    """Return a run for each task that waits for the executor."""
    return [op.RunOne() for _ in world.state.queue]


def readd(tasks: Callable[[World], list[str]]) -> Make:
    """Return the situation in which a task of such a kind is added again."""

    def make(world: World, source: Source) -> list[op.Operation]:
        """Draw an add of a known task; some are refused, and followed to the task's due time."""
        # A task that was added inside alone has no delay of its own to be added again with.
        known = [task for task in tasks(world) if task in world.delays]
        if not known:
            return []
        task = source.item(known)
        delays_ms = [source.integer(0, 2 * span_ms(world))] * 3
        # In every fourth case it stays in its tick, perhaps behind the others there.
        delays_ms.append(max(0, world.state.store.due_ticks.get(task, world.now) - world.now))
        delay_ms = _delay_for(world, task, source.item(delays_ms))
        illegal = _illegal_delays(world)
        if not illegal or source.integer(0, 3):
            return [op.Add(task, delay_ms)]
        due_ms = world.state.store.due_ticks.get(task, world.now)
        is_near = world.now <= due_ms <= world.now + world.reach_ms
        follows = [op.Advance(due_ms), *runs(world, source, due_ms)] if is_near else []
        return [op.Add(task, source.item(illegal)), *follows]

    return make


def _illegal_delays(world: World) -> list[int]:
    """Return a delay below zero and one above the largest, where the profile offers them."""
    if not world.has(Feature.CHANGE_DELAY):
        return []
    larger = world.profile.larger_delay is not LargerDelay.NOT_OFFERED
    largest = world.profile.largest_delay_ms
    negative = world.profile.negative_delay is not NegativeDelay.NOT_OFFERED
    return [largest + 1] * (larger and largest < LARGEST_SAFE_INTEGER) + [-1] * negative


def rearmed(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that is armed very often, each time for later than at first, and followed."""
    task, other = world.fresh_name(), world.fresh_name()
    first_ms = source.integer(1, span_ms(world))
    later_ms = span_ms(world) + first_ms if world.has(Feature.CHANGE_DELAY) else first_ms
    adds: list[op.Operation] = [op.Add(task, first_ms), op.Add(other, first_ms)]
    for _ in range(source.item((16, 128, 255, 256, 256))):
        adds += [op.Cancel(task)] if world.has(Feature.CANCEL) and source.integer(0, 9) == 0 else []
        adds.append(op.Add(task, later_ms))
    readings_ms = (world.now + first_ms, world.now + later_ms)
    ends = [step for at in readings_ms for step in (op.Advance(at), *runs(world, source, at))]
    return [*adds, *ends]


def cancel(tasks: Callable[[World], list[str]]) -> Make:
    """Return the situation in which a task of such a kind is cancelled."""

    def make(world: World, source: Source) -> list[op.Operation]:
        known = tasks(world)
        return [op.Cancel(source.item(known))] if known else []

    return make


def cancel_unknown(world: World, _source: Source) -> list[op.Operation]:
    """Return a cancel of a task that was never added."""
    return [op.Cancel(world.fresh_name())]


def cancel_first_bucket(world: World, _source: Source) -> list[op.Operation]:
    """Return the cancels of all tasks of the tick that is next, and the advance to it."""
    if not world.due_ticks_within_reach:
        return []
    first = world.due_ticks_within_reach[0]
    due_ticks = world.state.store.due_ticks
    cancels = [op.Cancel(task) for task in world.pending if due_ticks[task] == first]
    return [*cancels, op.Advance(max(first, world.now))]


def first_leaves(world: World, source: Source) -> list[op.Operation]:
    """Draw some tasks, of which the first to be due leaves, and one that is added then.

    It is cancelled or moved, or stays. Time passes before. The readings are passed one by one at
    which a task is due, or would have been.
    """
    tick_ms, longest_ms = world.configuration.tick_ms, source.item((1, 3)) * span_ms(world)
    delays = [source.integer(tick_ms, longest_ms) for _ in range(source.integer(2, 4))]
    names = [world.fresh_name() for _ in delays]
    first_ms, begun_ms = min(delays), world.now
    first = names[delays.index(first_ms)]
    drawn: list[op.Operation] = [op.Add(*each) for each in zip(names, delays, strict=True)]
    now_ms = begun_ms + source.item((0, source.integer(0, first_ms - 1), first_ms - 1))
    readings_ms = {begun_ms + delay_ms for delay_ms in delays}
    if now_ms > begun_ms:
        drawn.append(op.Advance(now_ms))
    leaves: list[op.Operation] = []
    if world.has(Feature.CANCEL):
        leaves += [op.Cancel(first)] * 2
    if world.has(Feature.READD, Feature.CHANGE_DELAY):
        leaves.append(op.Add(first, source.integer(first_ms, 2 * longest_ms)))
    drawn += [source.item(leaves)] if leaves and source.integer(0, 3) else []
    near_ms = begun_ms + source.item(delays) - now_ms + source.integer(-1, 2) * tick_ms
    added_ms = source.item((source.integer(tick_ms, longest_ms), max(near_ms, tick_ms)))
    drawn.append(op.Add(world.fresh_name(), added_ms))
    readings_ms |= {now_ms + each.delay_ms for each in drawn[-2:] if isinstance(each, op.Add)}
    for reading_ms in sorted(readings_ms):
        drawn += [op.Advance(reading_ms)]
        drawn += [op.RunOne()] * (world.profile.executor is Executor.STEPPED)
    return drawn


def runs(world: World, source: Source, due_ms: int) -> list[op.Operation]:
    """Run what is queued and will be by an advance to ``due_ms``, and one more; or nothing."""
    if world.profile.executor is not Executor.STEPPED or source.integer(0, 2) == 0:
        return []
    due_ticks = world.state.store.due_ticks.values()
    before_it = len(world.state.queue) + sum(due <= due_ms for due in due_ticks)
    return [op.RunOne() for _ in range(before_it + 1)]


def far_and_followed(world: World, source: Source) -> list[op.Operation]:
    """Draw a delay about a power of two or ten or a unit of time, and advances to its due time.

    The task was added with another delay before, or leaves before it is due, or neither. The timer
    may have been idle before, even for longer than any delay that it takes.
    """
    tick_ms = world.configuration.tick_ms
    end_ms = max(world.reach_ms, LARGEST_SAFE_INTEGER)
    reach_ms = min(world.reach_ms, end_ms - world.now - 2 * tick_ms)
    largest = min(world.profile.largest_delay_ms, reach_ms)
    powers = sorted([*(2**power for power in range(5, 56)), *(10**power for power in range(2, 17))])
    usable = [power for power in powers if power < largest]
    if not usable:
        return []
    usable += [largest] * 3
    units = [unit for unit in _UNITS_MS if unit < largest] or usable
    ticks_ms = source.integer(-2, 2) * tick_ms + source.integer(-1, 1)
    near_ms = source.item((0, ticks_ms, source.integer(-30, 30)))
    delay_ms = max(1, source.item(source.item((usable, usable[-len(usable) // 3 :], units))))
    delay_ms = min(max(1, delay_ms + near_ms), largest)
    task = world.fresh_name()
    first: list[op.Operation] = []
    now, due_ms = world.now, world.now + delay_ms
    if source.integer(0, 1):
        now += source.integer(1, span_ms(world))
        latest_ms = min(reach_ms - delay_ms, _LATEST_MS - world.now)
        idle = [power for power in powers[-30:] if power < latest_ms]
        if idle and goes_far(world.profile) and source.integer(0, 1):
            now = world.now + source.item(idle)
            due_ms = now + delay_ms
        first = [op.Advance(now)]
    before_ms = max(now, due_ms - source.item((1, tick_ms, tick_ms + 1)))
    kind = source.integer(0, 5)
    if kind == 0 and world.has(Feature.READD, Feature.CHANGE_DELAY):
        first.append(op.Add(task, source.integer(1, span_ms(world))))
    middle: list[op.Operation] = [op.Advance(before_ms)] if source.integer(0, 2) else []
    if kind == 1 and world.has(Feature.CANCEL):
        middle.insert(source.integer(0, len(middle)), op.Cancel(task))
    adds: list[op.Operation] = [op.Add(task, due_ms - now)]
    due_ms = max(due_ms, now)
    ends = [op.Advance(due_ms), op.Advance(due_ms + tick_ms)]
    return [*first, *adds, *middle, *ends, *runs(world, source, due_ms)]


def refused(world: World, source: Source) -> list[op.Operation]:
    """Draw a few tasks that an executor refuses, what is done meanwhile, and that they run.

    Another task waits in the bucket of the first one, a turn of the wheel later.
    """
    span, tick_ms, now = span_ms(world), world.configuration.tick_ms, world.now
    delays = [source.integer(1, 2 * span)] * source.integer(1, 3)
    delays += [delays[0] + source.integer(0, span) for _ in range(source.integer(0, 2))]
    to_ms = now + source.item((max(delays), max(delays), max(delays) + tick_ms, delays[0]))
    names = [world.fresh_name() for _ in delays]
    adds: list[op.Operation] = [op.Add(*each) for each in zip(names, delays, strict=True)]
    if not world.may_refuse(to_ms):
        return []
    delays_by_name = dict(zip(names, delays, strict=True))
    meanwhile: list[op.Operation] = [op.Advance(to_ms, refuse=True)] * source.item((0, 0, 0, 7))
    others: list[op.Operation]
    for _ in range(source.integer(0, 3)):
        name = source.item(names)
        others = [op.Advance(to_ms, refuse=True)]
        others += [op.Cancel(name)] if world.has(Feature.CANCEL) else []
        others += [op.Add(name, delays_by_name[name])] if world.has(Feature.READD) else []
        others += [op.Elapse(to_ms)] if world.has(Feature.ELAPSE) else []
        others += [op.RunOne()] if world.profile.executor is Executor.STEPPED else []
        meanwhile.append(source.item(others))
    again_ms = now + delays[0] + span
    later = [op.Add(world.fresh_name(), again_ms - to_ms)] if again_ms > to_ms else []
    end_ms = to_ms + max(delays)
    ends: list[op.Operation] = [op.Advance(to_ms), op.Advance(max(again_ms, end_ms, to_ms))]
    ends = [*ends, *runs(world, source, end_ms)] if source.integer(0, 3) else ends
    return [*adds, op.Advance(to_ms, refuse=True), *meanwhile, *later, *ends]


def let_go(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that runs, or is moved or cancelled, and looks at it when it must be let go."""
    task, delay_ms = world.fresh_name(), source.integer(0, 2 * span_ms(world))
    look = op.Reachable(task)
    operations: list[op.Operation] = [op.Add(task, delay_ms)]
    due_ms = world.now + delay_ms + world.configuration.tick_ms
    if source.integer(0, 3) == 0:  # nobody but the timer holds a pending task
        return [*operations, look, op.Advance(due_ms), *runs(world, source, due_ms), look]
    if world.has(Feature.READD) and source.integer(0, 1):
        again_ms = source.integer(0, delay_ms) if world.has(Feature.CHANGE_DELAY) else delay_ms
        operations.append(op.Add(task, again_ms))
    if world.has(Feature.CANCEL) and source.integer(0, 3):
        operations.append(op.Cancel(task))
        if world.profile.release_cancelled is ReleaseCancelled.AT_ONCE:
            operations.append(look)
    operations += [op.Advance(due_ms), *runs(world, source, due_ms)]
    return [*operations, look]


def shutdown(world: World, source: Source) -> list[op.Operation]:
    """Draw a shutdown, a second one, and what comes too late; the executor may refuse before."""
    last = world.last_due
    runs: list[op.Operation] = []
    if world.profile.executor is Executor.STEPPED:
        runs = [op.RunOne() for _ in range(len(world.state.queue) + 1)]
    delays = [0, source.integer(1, 100), *_illegal_delays(world)]
    adds = [op.Add(world.fresh_name(), delay) for delay in delays]
    ends = [op.Shutdown(), op.Shutdown(), op.Advance(last), *runs, *adds, op.Advance(last + 1)]
    return [*_refused_before(world, source), *ends]


def _refused_before(world: World, source: Source) -> list[op.Operation]:
    """Draw an advance to the first or the last due tick, which the executor refuses; or nothing."""
    due_ms = world.due_ticks_within_reach
    if not due_ms or not world.has(Feature.REFUSE) or source.integer(0, 1):
        return []
    to_ms = max(world.now, source.item((due_ms[0], due_ms[-1])))
    is_inline = world.profile.executor is Executor.INLINE
    return [] if is_inline or not world.may_refuse(to_ms) else [op.Advance(to_ms, refuse=True)]
