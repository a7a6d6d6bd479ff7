"""The table of situations for the timer: what to do next, when it can be done, what it is good for.

Each row makes the operations of one situation, in which certain rules show. A generator takes rows
by weight; where a rule has not been put to the test often enough, its rows weigh more.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from purgatory_conformance.generation.asks import timer_asks
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import in_both_sorts
from purgatory_conformance.generation.looks import last_looks, names_of
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
    Rounding,
    Structure,
    TimerConfiguration,
    TimerProfile,
)

Make = Callable[[World, Source], Sequence[op.Operation]]


@dataclass(frozen=True)
class Row:
    """A situation: name, weight, rules put to the test, features needed, and its generator.

    ``make`` may return nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[Feature]
    make: Make
    stepped_only: bool = False

    def is_offered(self, profile: TimerProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        if self.stepped_only and profile.executor is not Executor.STEPPED:
            return False
        if Feature.REFUSE in self.needs and profile.executor is Executor.INLINE:
            return False
        return profile.features.issuperset(self.needs)


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


def _span(world: World) -> int:
    return world.configuration.tick_ms * world.configuration.wheel_size


def _short(world: World, source: Source) -> list[op.Operation]:
    return [_add(world, source, source.integer(1, 2 * _span(world)))]


def _far(world: World, source: Source) -> list[op.Operation]:
    size = world.configuration.wheel_size
    return [_add(world, source, source.integer(1, _span(world) * size * min(size, 6)))]


def _zero(world: World, source: Source) -> list[op.Operation]:
    return [_add(world, source, 0)]


def _negative(world: World, source: Source) -> list[op.Operation]:
    return [_add(world, source, -source.integer(1, 2 * _span(world)))]


def _boundary(world: World, source: Source) -> list[op.Operation]:
    tick, size = world.configuration.tick_ms, world.configuration.wheel_size
    level = source.integer(1, 4)
    end = level_end(world.own_clock, tick_of_level(level, tick, size), size)
    if world.now < 0 and source.integer(0, 1):
        end = 0
    expiry = end + source.item((0, -1, 1, -tick, tick))
    return [_add(world, source, max(expiry - world.now, 0))]


def _same_tick(world: World, source: Source) -> list[op.Operation]:
    due_ticks = [due for due in world.due_ticks_within_reach if due >= world.now]
    if not due_ticks:
        return []
    due_tick = source.item(due_ticks)
    inside = source.integer(0, world.configuration.tick_ms - 1)
    return [_add(world, source, due_tick + inside - world.now)]


def _from_two_levels(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that will come down into a bucket, and one added to that bucket before."""
    tick, size = world.configuration.tick_ms, world.configuration.wheel_size
    if size < 3:
        return []
    # The last tick before the bucket of the second level from which the task comes down.
    near = floor_to(world.now, _span(world)) + 2 * _span(world) - tick
    far = near + tick * source.integer(2, size - 1)
    names = [world.fresh_name() for _ in range(3)]
    return [
        op.Add(names[0], near - world.now),
        op.Add(names[1], far - world.now),
        op.Advance(near),
        op.Add(names[2], far - near),
        op.Advance(far),
    ]


def _idle_then_add(world: World, source: Source) -> list[op.Operation]:
    to_ms = world.now + source.integer(1, 3 * _span(world))
    task = _name(world, source)
    return [op.Elapse(to_ms), op.Add(task, _delay_for(world, task, source.integer(0, 2)))]


def _elapse(world: World, source: Source) -> list[op.Operation]:
    return [op.Elapse(world.now + source.integer(0, _span(world)))]


def _huge(world: World, source: Source) -> list[op.Operation]:
    """Draw a delay about the largest one; rarely one at the end of 64-bit arithmetic."""
    largest = world.profile.largest_delay_ms
    delays = [largest, largest - 1, largest + 1, 2**31 - 1, 2**31, 2**40, 2**53 - 1]
    greatest = LARGEST_SAFE_INTEGER + 1 if world.has(Feature.INT64) else LARGEST_SAFE_INTEGER
    if world.has(Feature.INT64) and source.integer(0, 4) == 4:
        delays = [2**61, 2**62, 2**62 + 1, LARGEST_LONG - 1, LARGEST_LONG]
        greatest = LARGEST_LONG
    usable = [delay for delay in delays if 0 < delay <= greatest]
    return [op.Add(world.fresh_name(), source.item(usable))]


def _advance_to_next(world: World, source: Source) -> list[op.Operation]:
    next_due = world.next_due
    if next_due is None or next_due > world.now + world.reach_ms:
        return []
    offset = source.item((0, 0, 0, -1, 1))
    return [op.Advance(max(next_due + offset, world.now))]


def _advance_by(world: World, source: Source) -> list[op.Operation]:
    return [op.Advance(world.now + source.integer(0, 2 * _span(world)))]


def _advance_to_all(world: World, source: Source) -> list[op.Operation]:
    """Draw an advance to all tasks within reach, or one that comes very late."""
    last_ms = world.last_due
    late_ms = [late for late in _LATE_MS if last_ms + late <= _LATEST_MS]
    if late_ms and source.integer(0, 5) == 5:
        return [op.Advance(last_ms + source.item(late_ms))]
    return [op.Advance(last_ms + source.integer(0, 1))]


def _run_one(world: World, source: Source) -> list[op.Operation]:
    return [op.RunOne()]


def _run_all(world: World, source: Source) -> list[op.Operation]:
    return [op.RunOne() for _ in world.state.queue]


def _readd(tasks: Callable[[World], list[str]]) -> Make:
    def make(world: World, source: Source) -> list[op.Operation]:
        """Draw an add of a known task; some are refused, and followed to the task's due time."""
        # A task that was added inside alone has no delay of its own to be added again with.
        known = [task for task in tasks(world) if task in world.delays]
        if not known:
            return []
        task = source.item(known)
        delay_ms = _delay_for(world, task, source.integer(0, 2 * _span(world)))
        illegal = _illegal_delays(world)
        if not illegal or source.integer(0, 3):
            return [op.Add(task, delay_ms)]
        due_ms = world.state.store.due_ticks.get(task, world.now)
        is_near = world.now <= due_ms <= world.now + world.reach_ms
        follows = [op.Advance(due_ms), *_runs(world, source, due_ms)] if is_near else []
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


def _rearmed(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that is armed very often, each time for later than at first, and followed."""
    task, other = world.fresh_name(), world.fresh_name()
    first_ms = source.integer(1, _span(world))
    later_ms = _span(world) + first_ms if world.has(Feature.CHANGE_DELAY) else first_ms
    adds: list[op.Operation] = [op.Add(task, first_ms), op.Add(other, first_ms)]
    for _ in range(source.item((16, 128, 255, 256, 256))):
        adds += [op.Cancel(task)] if world.has(Feature.CANCEL) and source.integer(0, 9) == 0 else []
        adds.append(op.Add(task, later_ms))
    readings_ms = (world.now + first_ms, world.now + later_ms)
    ends = [step for at in readings_ms for step in (op.Advance(at), *_runs(world, source, at))]
    return [*adds, *ends]


def _cancel(tasks: Callable[[World], list[str]]) -> Make:
    def make(world: World, source: Source) -> list[op.Operation]:
        known = tasks(world)
        return [op.Cancel(source.item(known))] if known else []

    return make


def _cancel_unknown(world: World, source: Source) -> list[op.Operation]:
    return [op.Cancel(world.fresh_name())]


def _cancel_first_bucket(world: World, source: Source) -> list[op.Operation]:
    """Cancel all tasks of the tick that is next, then advance to it."""
    if not world.due_ticks_within_reach:
        return []
    first = world.due_ticks_within_reach[0]
    due_ticks = world.state.store.due_ticks
    cancels = [op.Cancel(task) for task in world.pending if due_ticks[task] == first]
    return [*cancels, op.Advance(max(first, world.now))]


def _scripted(make_script: Callable[[World, Source, str], tuple[op.Action, ...]]) -> Make:
    def make(world: World, source: Source) -> list[op.Operation]:
        task = world.fresh_name()
        script = make_script(world, source, task)
        if not script:
            return []
        due_ms = world.now + source.integer(0, _span(world))
        operations: list[op.Operation] = [
            op.Add(task, due_ms - world.now, script),
            op.Advance(due_ms),
        ]
        return operations + _runs(world, source, due_ms)

    return make


def _runs(world: World, source: Source, due_ms: int) -> list[op.Operation]:
    """Run what is queued and will be by an advance to ``due_ms``, and one more; or nothing."""
    if world.profile.executor is not Executor.STEPPED or source.integer(0, 2) == 0:
        return []
    due_ticks = world.state.store.due_ticks.values()
    before_it = len(world.state.queue) + sum(due <= due_ms for due in due_ticks)
    return [op.RunOne() for _ in range(before_it + 1)]


def _throws(world: World, source: Source) -> list[op.Operation]:
    """Draw a throwing task, and a second task that expires at the same time or later."""
    delay_ms = source.integer(0, _span(world))
    task, other = world.fresh_name(), world.fresh_name()
    later_ms = delay_ms + source.integer(0, world.configuration.tick_ms)
    due_ms = world.now + later_ms
    adds: list[op.Operation] = [op.Add(task, delay_ms, (op.Throw(),)), op.Add(other, later_ms)]
    return [*adds, op.Advance(due_ms), *_runs(world, source, due_ms)]


def _adds(world: World, source: Source, task: str) -> tuple[op.Action, ...]:
    known = [t for t in (task, *world.pending) if t in world.delays]
    if known and world.has(Feature.READD) and source.integer(0, 3) == 0:
        other = source.item(known)
        return (op.AddInside(other, world.delays[other]),)
    other = world.fresh_name()
    delay_ms = source.integer(-1, _span(world))
    world.delays[other] = delay_ms
    return (op.AddInside(other, delay_ms),)


def _adds_itself(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that adds itself as it runs, and so once more; then it may be cancelled."""
    task = world.fresh_name()
    delay_ms = world.configuration.tick_ms + source.integer(0, _span(world))
    due_ms = world.now + delay_ms
    operations: list[op.Operation] = [op.Add(task, delay_ms, (op.AddInside(task, delay_ms),))]
    for due in (due_ms, due_ms + delay_ms + world.configuration.tick_ms):
        operations += [op.Advance(due), *_runs(world, source, due)]
    return [*operations, op.Cancel(task)] if world.has(Feature.CANCEL) else operations


def _cancels(world: World, source: Source, task: str) -> tuple[op.Action, ...]:
    return (op.CancelInside(source.item((*world.pending, task))),)


_MANY_WAITING = (0, 0, 8, 8, 33)
"""The numbers of tasks that wait behind a batch."""


def _batch(world: World, source: Source) -> list[op.Operation]:
    """Draw tasks that come due in one advance, late or not, where some act on the others.

    An actor's script has up to three actions, on tasks before it, at its tick or behind it, or on
    some of many that are due later, which are followed to their due times then.
    """
    span, tick_ms = _span(world), world.configuration.tick_ms
    count = source.integer(2, 6)
    names = [world.fresh_name() for _ in range(count)]
    delays = [source.integer(0, span) for _ in names]
    if source.integer(0, 1) == 0:
        delays[1:] = [delays[0]] * source.integer(1, count - 1) + delays[count:]
        delays += [source.integer(0, span) for _ in range(count - len(delays))]
    world.delays.update(zip(names, delays, strict=True))
    waiting = {
        world.fresh_name(): span + source.integer(1, 3 * span)
        for _ in range(source.item(_MANY_WAITING))
    }
    world.delays.update(waiting)
    actors = {source.integer(0, count - 1) for _ in range(source.integer(1, 3))}
    adds: list[op.Operation] = [op.Add(name, delay_ms) for name, delay_ms in waiting.items()]
    for place, name in enumerate(names):
        script = _script(world, source, (*names, *waiting), name) if place in actors else ()
        adds.append(op.Add(name, delays[place], script))
    due_ms = world.now + max(delays)
    to_ms = due_ms + source.item((0, 0, tick_ms, span)) * source.integer(1, 3)
    if source.integer(0, 3) == 0:
        to_ms = world.now + source.integer(0, max(delays))
    if world.has(Feature.ELAPSE) and source.integer(0, 2) == 0:
        adds.append(op.Elapse(to_ms))
    drawn = [*adds, op.Advance(to_ms), *_runs(world, source, to_ms)]
    if not waiting:
        return drawn
    last_ms = max(to_ms, world.now + 4 * span + tick_ms)
    return [*drawn, op.Advance(last_ms), *_runs(world, source, last_ms)]


def _script(
    world: World, source: Source, names: Sequence[str], itself: str
) -> tuple[op.Action, ...]:
    """Draw one to three actions that the profile offers, on tasks of the batch and new ones."""
    kinds: list[Feature] = [
        feature
        for feature in (
            Feature.SCRIPT_ADD,
            Feature.SCRIPT_CANCEL,
            Feature.SCRIPT_THROW,
            Feature.SCRIPT_ADVANCE,
        )
        if world.has(feature)
    ]
    if world.profile.executor is Executor.INLINE and _is_a_wheel(world):
        # Where the own clock stands while tasks of one bucket run is followed in one way alone.
        kinds = [kind for kind in kinds if kind is not Feature.SCRIPT_ADVANCE]
    actions: list[op.Action] = []
    about = _other(source, names, itself)
    for _ in range(source.integer(1, 3) if kinds else 0):
        kind = source.item(kinds)
        other = about if source.integer(0, 1) else _other(source, names, itself)
        if kind is Feature.SCRIPT_THROW:
            actions.append(op.Throw())
        elif kind is Feature.SCRIPT_CANCEL:
            actions.append(op.CancelInside(other))
        elif kind is Feature.SCRIPT_ADVANCE:
            # What it runs may throw through it: then what stands behind it is left to chance.
            actions.append(op.AdvanceInside())
            break
        else:
            added = _added_inside(world, source, other, itself)
            actions.append(added)
            # An executor that runs at once may run what is due inside the add: then its own actions
            # would come between these.
            if added.delay_ms < world.configuration.tick_ms:
                break
    return tuple(actions)


def _is_a_wheel(world: World) -> bool:
    return world.profile.structure is Structure.DELAY_QUEUE_WHEEL


def _other(source: Source, names: Sequence[str], itself: str) -> str:
    """Draw a task of a batch; often the actor, or the one behind it, which a walk has at hand."""
    near = names[names.index(itself) :][:2]
    return source.item(near if source.integer(0, 1) else names)


def _added_inside(world: World, source: Source, other: str, itself: str) -> op.AddInside:
    """Draw an add of a new task, or of one of the batch; no task makes itself due at once."""
    tick_ms = world.configuration.tick_ms
    if world.has(Feature.READD) and source.integer(0, 1) == 0:
        delay_ms = world.delays.get(other, 0)
        if world.has(Feature.CHANGE_DELAY) and source.integer(0, 1):
            delay_ms = source.integer(tick_ms, 3 * _span(world))
        if delay_ms >= tick_ms and (other != itself or delay_ms > 0):
            return op.AddInside(other, delay_ms)
    name = world.fresh_name()
    negative = world.profile.negative_delay is not NegativeDelay.NOT_OFFERED
    shortest = -1 if negative else 0
    delay_ms = source.item((shortest, 0, 1, tick_ms, source.integer(1, _span(world))))
    world.delays[name] = delay_ms
    return op.AddInside(name, delay_ms)


def _crowd(world: World, source: Source) -> list[op.Operation]:
    """Draw dozens or hundreds of tasks, of one tick or of many, and an advance to all or some."""
    count = source.integer(2, 7) * source.item((10, 10, 30, 60))
    width = source.item((0, 0, 1, _span(world), 3 * _span(world)))
    delay_ms = source.integer(1, 2 * _span(world))
    delays = [delay_ms + source.integer(0, width) for _ in range(count)]
    adds: list[op.Operation] = [op.Add(world.fresh_name(), delay) for delay in delays]
    most = [add for place, add in enumerate(adds) if place % 3]
    if world.has(Feature.CANCEL):
        adds += [
            op.Cancel(add.task)
            for add in source.item((adds[:0], adds[::3], adds[count // 2 : count // 2 + 1], most))
            if isinstance(add, op.Add)
        ]
    due_ms = world.now + source.item((max(delays), max(delays), delay_ms + width // 2))
    runs: list[op.Operation] = []
    if world.profile.executor is Executor.STEPPED:
        runs = [op.RunOne()] * count
    return [*adds, op.Advance(due_ms), *runs]


def _far_and_followed(world: World, source: Source) -> list[op.Operation]:
    """Draw a delay about a power of two or ten, and the advances to its due time."""
    tick_ms = world.configuration.tick_ms
    latest_ms = max(world.reach_ms, LARGEST_SAFE_INTEGER)
    reach_ms = min(world.reach_ms, latest_ms - world.now - 2 * tick_ms)
    largest = min(world.profile.largest_delay_ms, reach_ms)
    powers = sorted([2**power for power in range(5, 56)] + [10**power for power in range(2, 17)])
    usable = [power for power in powers if power < largest]
    if not usable:
        return []
    usable += [largest] * 3
    usable = source.item((usable, usable[-len(usable) // 3 :]))
    near_ms = source.integer(-2, 2) * tick_ms + source.integer(-1, 1)
    delay_ms = max(1, source.item(usable) + near_ms)
    delay_ms = min(delay_ms, largest)
    task = world.fresh_name()
    first: list[op.Operation] = []
    if source.integer(0, 1):
        first = [op.Advance(world.now + source.integer(1, _span(world)))]
    due_ms = world.now + delay_ms
    now = first[0].to_ms if first and isinstance(first[0], op.Advance) else world.now
    before_ms = max(now, due_ms - source.item((1, tick_ms, tick_ms + 1)))
    adds: list[op.Operation] = [op.Add(task, due_ms - now)]
    due_ms = max(due_ms, now)
    ends = [op.Advance(due_ms), op.Advance(due_ms + tick_ms)]
    return [*first, *adds, op.Advance(before_ms), *ends, *_runs(world, source, due_ms)]


def _advances(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that advances, where time can pass after another has become due."""
    due_ms = world.now + source.integer(0, _span(world))
    task, other = world.fresh_name(), world.fresh_name()
    operations: list[op.Operation] = [op.Add(task, due_ms - world.now, (op.AdvanceInside(),))]
    if not world.has(Feature.ELAPSE):
        return [*operations, op.Advance(due_ms), *_runs(world, source, due_ms)]
    later_ms = due_ms + source.integer(1, _span(world))
    operations += [op.Add(other, later_ms - world.now), op.Advance(due_ms), op.Elapse(later_ms)]
    return operations + _runs(world, source, due_ms)


def _refused(world: World, source: Source) -> list[op.Operation]:
    """Draw a few tasks that an executor refuses, what is done meanwhile, and that they run.

    Another task waits in the bucket of the first one, a turn of the wheel later.
    """
    span, tick_ms, now = _span(world), world.configuration.tick_ms, world.now
    delays = [source.integer(1, 2 * span)] * source.integer(1, 3)
    delays += [delays[0] + source.integer(0, span) for _ in range(source.integer(0, 2))]
    to_ms = now + source.item((max(delays), max(delays), max(delays) + tick_ms, delays[0]))
    names = [world.fresh_name() for _ in delays]
    adds: list[op.Operation] = [op.Add(*each) for each in zip(names, delays, strict=True)]
    if not world.may_refuse(to_ms):
        return []
    delays_by_name = dict(zip(names, delays, strict=True))
    meanwhile: list[op.Operation] = []
    for _ in range(source.integer(0, 3)):
        name = source.item(names)
        others: list[op.Operation] = [op.Advance(to_ms, refuse=True)]
        others += [op.Cancel(name)] if world.has(Feature.CANCEL) else []
        others += [op.Add(name, delays_by_name[name])] if world.has(Feature.READD) else []
        others += [op.Elapse(to_ms)] if world.has(Feature.ELAPSE) else []
        others += [op.RunOne()] if world.profile.executor is Executor.STEPPED else []
        meanwhile.append(source.item(others))
    again_ms = now + delays[0] + span
    later = [op.Add(world.fresh_name(), again_ms - to_ms)] if again_ms > to_ms else []
    end_ms = to_ms + max(delays)
    ends: list[op.Operation] = [op.Advance(to_ms), op.Advance(max(again_ms, end_ms, to_ms))]
    ends = [*ends, *_runs(world, source, end_ms)] if source.integer(0, 3) else ends
    return [*adds, op.Advance(to_ms, refuse=True), *meanwhile, *later, *ends]


def _very_many(world: World, source: Source) -> list[op.Operation]:
    """Draw more tasks than a timer may hand over, or an executor take, in one go."""
    delay_ms = source.integer(1, _span(world))
    adds: list[op.Operation] = [
        op.Add(world.fresh_name(), delay_ms) for _ in range(source.integer(1030, 1200))
    ]
    due_ms = world.now + delay_ms + world.configuration.tick_ms
    return [*adds, op.Advance(due_ms), *(op.RunOne() for _ in adds)]


def _let_go(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that runs, or is moved or cancelled, and looks at it when it must be let go."""
    task, delay_ms = world.fresh_name(), source.integer(0, 2 * _span(world))
    look = op.Reachable(task)
    operations: list[op.Operation] = [op.Add(task, delay_ms)]
    due_ms = world.now + delay_ms + world.configuration.tick_ms
    if source.integer(0, 3) == 0:  # nobody but the timer holds a pending task
        return [*operations, look, op.Advance(due_ms), *_runs(world, source, due_ms), look]
    if world.has(Feature.READD) and source.integer(0, 1):
        again_ms = source.integer(0, delay_ms) if world.has(Feature.CHANGE_DELAY) else delay_ms
        operations.append(op.Add(task, again_ms))
    if world.has(Feature.CANCEL) and source.integer(0, 3):
        operations.append(op.Cancel(task))
        if world.profile.release_cancelled is ReleaseCancelled.AT_ONCE:
            operations.append(look)
    operations += [op.Advance(due_ms), *_runs(world, source, due_ms)]
    return [*operations, look]


def _shutdown(world: World, source: Source) -> list[op.Operation]:
    last = world.last_due
    runs: list[op.Operation] = []
    if world.profile.executor is Executor.STEPPED:
        runs = [op.RunOne() for _ in range(len(world.state.queue) + 1)]
    delays = [0, source.integer(1, 100), *_illegal_delays(world)]
    adds = [op.Add(world.fresh_name(), delay) for delay in delays]
    return [op.Shutdown(), op.Shutdown(), op.Advance(last), *runs, *adds, op.Advance(last + 1)]


def _row(
    name: str,
    weight: int,
    rules: str,
    make: Make,
    *needs: Feature,
    stepped_only: bool = False,
) -> Row:
    return Row(name, weight, frozenset(rules.split()), frozenset(needs), make, stepped_only)


TIMER_TABLE: tuple[Row, ...] = (
    _row(
        "add a short delay",
        8,
        "TIMER-NOT-EARLY TIMER-NOT-LATE TIMER-EXACTLY-ONCE TIMER-ROUNDING",
        _short,
    ),
    _row(
        "advance to the next bucket",
        8,
        "TIMER-NOT-LATE TIMER-WAKE-UP TIMER-ADVANCE-RESULT",
        _advance_to_next,
    ),
    _row(
        "advance by a little", 5, "TIMER-NOT-EARLY TIMER-IDLE-ADVANCE TIMER-TICK-ORDER", _advance_by
    ),
    _row("run one task", 6, "TIMER-EXECUTOR-ORDER", _run_one, stepped_only=True),
    _row("add a far delay", 4, "TIMER-CASCADE TIMER-OVERFLOW-ON-DEMAND TIMER-BUCKET-REUSE", _far),
    _row(
        "add at a level's boundary",
        4,
        "TIMER-SPAN TIMER-OVERFLOW-ON-DEMAND TIMER-CASCADE",
        _boundary,
    ),
    _row("add a zero delay", 2, "TIMER-ZERO-DELAY TIMER-ALREADY-DUE TIMER-OWN-CLOCK", _zero),
    _row("add a negative delay", 2, "TIMER-NEGATIVE-DELAY TIMER-ALREADY-DUE", _negative),
    _row("add into a tick in use", 3, "TIMER-SAME-TICK-ORDER TIMER-EXACTLY-ONCE", _same_tick),
    _row(
        "advance to the last task",
        2,
        "TIMER-TICK-ORDER TIMER-CASCADE TIMER-SAME-TICK-ORDER",
        _advance_to_all,
    ),
    _row("fill a tick from two levels", 2, "TIMER-SAME-TICK-ORDER TIMER-CASCADE", _from_two_levels),
    _row("run all tasks", 4, "TIMER-EXECUTOR-ORDER", _run_all, stepped_only=True),
    _row("let time pass", 2, "TIMER-OWN-CLOCK", _elapse, Feature.ELAPSE),
    _row(
        "add after idleness", 3, "TIMER-OWN-CLOCK TIMER-ALREADY-DUE", _idle_then_add, Feature.ELAPSE
    ),
    _row(
        "cancel a pending task",
        4,
        "TIMER-CANCEL TIMER-SIZE",
        _cancel(lambda w: w.pending),
        Feature.CANCEL,
    ),
    _row(
        "empty the next bucket",
        3,
        "TIMER-EMPTIED-BUCKET TIMER-CANCEL",
        _cancel_first_bucket,
        Feature.CANCEL,
    ),
    _row(
        "cancel a cancelled task",
        2,
        "TIMER-CANCEL-AGAIN",
        _cancel(lambda w: w.cancelled_tasks),
        Feature.CANCEL,
    ),
    _row(
        "cancel a task that ran",
        2,
        "TIMER-CANCEL-FIRED",
        _cancel(lambda w: w.idle_tasks),
        Feature.CANCEL,
    ),
    _row(
        "cancel a task in the executor's queue",
        3,
        "TIMER-CANCEL-TOO-LATE",
        _cancel(lambda w: sorted(set(w.state.queue))),
        Feature.CANCEL,
        stepped_only=True,
    ),
    _row("cancel an unknown task", 1, "TIMER-CANCEL-UNKNOWN", _cancel_unknown, Feature.CANCEL),
    _row(
        "add a pending task again",
        4,
        "TIMER-READD-PENDING",
        _readd(lambda w: w.pending),
        Feature.READD,
    ),
    _row(
        "add a cancelled task again",
        5,
        "TIMER-READD-CANCELLED",
        _readd(lambda w: w.cancelled_tasks),
        Feature.READD,
        Feature.CANCEL,
    ),
    _row(
        "add an expired task again",
        3,
        "TIMER-READD-FIRED",
        _readd(lambda w: w.idle_tasks),
        Feature.READD,
    ),
    _row(
        "add a task that waits for the executor",
        1,
        "TIMER-READD-FIRED",
        _readd(lambda w: sorted(set(w.state.queue))),
        Feature.READD,
        stepped_only=True,
    ),
    _row("arm a task very often", 1, "TIMER-READD-PENDING", _rearmed, Feature.READD),
    _row("a task that throws", 2, "TIMER-THROWING-TASK", _throws, Feature.SCRIPT_THROW),
    _row("a task that adds", 2, "TIMER-ADD-INSIDE", _scripted(_adds), Feature.SCRIPT_ADD),
    _row(
        "a task that adds itself",
        1,
        "TIMER-ADD-INSIDE",
        _adds_itself,
        Feature.SCRIPT_ADD,
        Feature.READD,
    ),
    _row(
        "a task that cancels", 2, "TIMER-CANCEL-INSIDE", _scripted(_cancels), Feature.SCRIPT_CANCEL
    ),
    _row("a task that advances", 2, "TIMER-ADVANCE-INSIDE", _advances, Feature.SCRIPT_ADVANCE),
    _row(
        "a batch that acts on itself",
        8,
        "TIMER-ADD-INSIDE TIMER-CANCEL-INSIDE TIMER-THROWING-TASK",
        _batch,
    ),
    _row("an executor that refuses", 2, "TIMER-EXECUTOR-REFUSES", _refused, Feature.REFUSE),
    _row("a crowd", 2, "TIMER-NOT-LATE TIMER-SIZE", _crowd),
    _row("follow a far delay", 4, "TIMER-NOT-EARLY TIMER-NOT-LATE", _far_and_followed),
    _row("add a huge delay", 1, "TIMER-LARGEST-DELAY", _huge),
    _row("look at what is let go", 2, "TIMER-RELEASES", _let_go, Feature.REACHABLE),
)
"""The rows for the timer, the simplest first: shrinking goes towards the top."""

SHUTDOWN_ROW = _row(
    "shut down",
    1,
    "TIMER-SHUTDOWN-DROPS TIMER-SHUTDOWN-QUEUE TIMER-SHUTDOWN-CLOSED TIMER-SHUTDOWN-AGAIN",
    _shutdown,
    Feature.SHUTDOWN,
)
"""The end of some cases."""

_ROWS = {row.name: row for row in TIMER_TABLE}


_WIDEST = TimerConfiguration(tick_ms=10, wheel_size=20, start_ms=1003)
"""The configuration whose cases begin with very many tasks: one of a hundred cases."""


@dataclass(slots=True)
class TimerDraft:
    """A case of a timer while it is drawn; see ``Draft``."""

    configuration: TimerConfiguration
    profile: TimerProfile
    world: World = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a fresh timer."""
        self.world = World(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[op.Operation, ...]:
        """Return more than a thousand tasks where the wheel is wide, so that it happens seldom.

        With a stepped executor alone: in one step so many runs in any order are hard to follow.
        """
        if self.configuration != _WIDEST or self.profile.executor is not Executor.STEPPED:
            return ()
        operations = tuple(_very_many(self.world, source))
        for operation in operations:
            self.world.apply(operation)
        return operations

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return _ROWS[situation].is_offered(self.profile)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation."""
        return self._in_sorts(_ROWS[situation].make(self.world, source), source)

    def asks(self) -> Iterable[op.Operation]:
        """Return the operations worth asking next, of two tasks or so."""
        world, tick_ms = self.world, self.configuration.tick_ms
        known = list(world.delays)[-3:]
        fresh = [f"t{len(world.delays) + 1}"]
        tasks = known if world.has(Feature.READD) and len(known) > 1 else [*known, *fresh]
        return timer_asks(
            world.state,
            self.profile,
            world.delays,
            tasks=tasks,
            tick_ms=tick_ms,
            last_ms=world.now + 3 * tick_ms,
        )

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return the operations of a shutdown, in one of ``share + 1`` cases."""
        if SHUTDOWN_ROW.is_offered(self.profile) and source.integer(0, share) == share:
            return self._in_sorts(SHUTDOWN_ROW.make(self.world, source), source)
        return ()

    def _in_sorts(
        self, operations: Iterable[op.Operation], source: Source
    ) -> tuple[op.Operation, ...]:
        """Follow the operations with exceptions of both sorts, where the subject throws both."""
        if self.world.has(Feature.SCRIPT_THROW_SEVERE):
            operations = [in_both_sorts(operation, source) for operation in operations]
        return self.followed(operations)

    def last_looks(
        self, drawn: tuple[op.Operation, ...], source: Source
    ) -> tuple[op.Operation, ...]:
        """Return looks at what is finished at the end of a case."""
        if not self.world.has(Feature.REACHABLE):
            return ()
        state = self.world.state
        return last_looks(drawn, lambda task: self.world.model.may_hold(state, task), source)

    def followed(self, operations: Iterable[op.Operation]) -> tuple[op.Operation, ...]:
        """Follow the operations and return them; none where a delay is not offered."""
        followed = tuple(operations)
        if not delays_are_offered(followed, self.profile):
            return ()
        if self.world.dropped and names_of(followed) & self.world.dropped:
            return ()
        reading_ms = self.world.now
        for operation in followed:
            if isinstance(operation, op.Advance | op.Elapse):
                if operation.to_ms - reading_ms > self.world.reach_ms:
                    return ()
                reading_ms = operation.to_ms
        for operation in followed:
            self.world.apply(operation)
        return followed


def delays_are_offered(operations: Iterable[op.Operation], profile: TimerProfile) -> bool:
    """Decide whether a timer of this profile can be asked for the delays of all adds."""
    return all(
        (delay_ms >= 0 or profile.negative_delay is not NegativeDelay.NOT_OFFERED)
        and (
            delay_ms <= profile.largest_delay_ms
            or profile.larger_delay is not LargerDelay.NOT_OFFERED
        )
        for delay_ms in _delays(operations)
    )


def _delays(operations: Iterable[op.Operation]) -> Iterator[int]:
    for operation in operations:
        if isinstance(operation, op.Add):
            yield operation.delay_ms
            yield from (act.delay_ms for act in operation.script if isinstance(act, op.AddInside))


_LATE_MS = (2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**40)
"""The times by which an advance may come late, ms."""

_LATEST_MS = 2**50
"""The latest reading to which a late advance leads, ms."""

_ORIGINS_MS = (10**6, 2**31, 2**32, 2**36)
"""Readings about which a clock may begin, ms."""

_LARGE_ORIGINS_MS = (2**40, 2**52)
"""Larger readings, for timers that count in 64 bits; a float of seconds has no ms there."""


def draw_configuration(
    profile: TimerProfile, source: Source, wanted: frozenset[str]
) -> TimerConfiguration:
    """Return a configuration: small wheels show cascades, larger ticks show rounding."""
    tick_ms = source.item((1, 1, 2, 3, 10))
    wheel_size = source.item((2, 3, 5, 20))
    start_ms = source.item((0, 0, 1, 7, 1003))
    # Where due times are exact the ticks are the timer's own, of which there would be too many.
    if profile.rounding is not Rounding.EXACT and source.integer(0, 4) == 4:
        tick_ms = source.item((1_000, 2**14, 10**6))
    if source.integer(0, 3) == 3:
        large = _LARGE_ORIGINS_MS if Feature.INT64 in profile.features else ()
        before_ms = source.integer(-10, 3 * tick_ms * wheel_size)
        start_ms = max(source.item((*_ORIGINS_MS, *large)) - before_ms, 0)
    if Feature.NEGATIVE_CLOCK in profile.features:
        share = 4 if "TIMER-NEGATIVE-CLOCK" in wanted else 9
        if source.integer(0, share) == share:
            start_ms = -source.item((1, 2, tick_ms, tick_ms * wheel_size, source.integer(1, 300)))
    return TimerConfiguration(tick_ms, wheel_size, start_ms)


def draw_operations(
    configuration: TimerConfiguration,
    profile: TimerProfile,
    source: Source,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[op.Operation, ...]:
    """Return the operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough.
    """
    draft = TimerDraft(configuration, profile)
    rows = [row for row in TIMER_TABLE if draft.offers(row.name)]
    opened = draft.opening(source)
    operations: list[op.Operation] = []
    for row in drawn_rows(rows, wanted, source, operations, most):
        operations.extend(draft.draw(row.name, source))
    operations.extend(draft.shutdown(source, 2 if SHUTDOWN_ROW.rules & wanted else 9))
    operations.extend(draft.last_looks((*opened, *operations), source))
    return (*opened, *operations)
