"""Situations of a timer in which tasks act as they run: they throw, add, cancel, or advance."""

from collections.abc import Callable, Sequence

from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer.situations import Make, runs, span_ms
from purgatory_conformance.generation.timer.world import World
from purgatory_spec import operations as op
from purgatory_spec.profiles import Executor, Feature, NegativeDelay, Structure


def _scripted(make_script: Callable[[World, Source, str], tuple[op.Action, ...]]) -> Make:
    """Return the situation of one task with such a script, which is run."""

    def make(world: World, source: Source) -> list[op.Operation]:
        task = world.fresh_name()
        script = make_script(world, source, task)
        if not script:
            return []
        due_ms = world.now + source.integer(0, span_ms(world))
        operations: list[op.Operation] = [
            op.Add(task, due_ms - world.now, script),
            op.Advance(due_ms),
        ]
        return operations + _run_later(world, source, due_ms)

    return make


def _run_later(world: World, source: Source, due_ms: int) -> list[op.Operation]:
    """Run what an advance to ``due_ms`` hands over, perhaps after some time; then advance again."""
    run = runs(world, source, due_ms)
    if not run or not world.has(Feature.ELAPSE) or source.integer(0, 2):
        return run
    later_ms = due_ms + source.integer(1, span_ms(world))
    return [op.Elapse(later_ms), *run, op.Advance(later_ms + source.integer(0, span_ms(world)))]


def throws(world: World, source: Source) -> list[op.Operation]:
    """Draw a throwing task, and a second task that expires at the same time or later."""
    delay_ms = source.integer(0, span_ms(world))
    task, other = world.fresh_name(), world.fresh_name()
    later_ms = delay_ms + source.integer(0, world.configuration.tick_ms)
    due_ms = world.now + later_ms
    adds: list[op.Operation] = [op.Add(task, delay_ms, (op.Throw(),)), op.Add(other, later_ms)]
    return [*adds, op.Advance(due_ms), *runs(world, source, due_ms)]


def _an_add(world: World, source: Source, task: str) -> tuple[op.Action, ...]:
    known = [t for t in (task, *world.pending) if t in world.delays]
    if known and world.has(Feature.READD) and source.integer(0, 3) == 0:
        other = source.item(known)
        return (op.AddInside(other, world.delays[other]),)
    other = world.fresh_name()
    delay_ms = source.integer(-1, span_ms(world))
    world.delays[other] = delay_ms
    return (op.AddInside(other, delay_ms),)


def adds_itself(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that adds itself whenever it runs, a few times; then it may be cancelled."""
    task = world.fresh_name()
    delay_ms = world.configuration.tick_ms + source.integer(0, span_ms(world))
    due_ms = world.now + delay_ms
    operations: list[op.Operation] = [op.Add(task, delay_ms, (op.AddInside(task, delay_ms),))]
    for turn in range(source.item((2, 2, 7))):
        due = due_ms + turn * (delay_ms + world.configuration.tick_ms)
        operations += [op.Advance(due), *runs(world, source, due)]
    return [*operations, op.Cancel(task)] if world.has(Feature.CANCEL) else operations


def _a_cancel(world: World, source: Source, task: str) -> tuple[op.Action, ...]:
    return (op.CancelInside(source.item((*world.pending, task))),)


_MANY_WAITING = (0, 0, 8, 8, 33)
"""The numbers of tasks that wait behind a batch."""


def batch(world: World, source: Source) -> list[op.Operation]:
    """Draw tasks that come due in one advance, late or not, where some act on the others.

    An actor's script has up to three actions, on tasks before it, at its tick or behind it, or on
    some of many that are due later, which are followed to their due times then.
    """
    span, tick_ms = span_ms(world), world.configuration.tick_ms
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
    drawn = [*adds, op.Advance(to_ms), *_run_later(world, source, to_ms)]
    if not waiting:
        return drawn
    last_ms = max(to_ms + 2 * span, world.now + 4 * span + tick_ms)
    return [*drawn, op.Advance(last_ms), *runs(world, source, last_ms)]


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
    if source.integer(0, 5) == 0 and _can_arm_again(world):
        return _armed_twice(world, source, about)
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


def _can_arm_again(world: World) -> bool:
    """Decide whether a running task can add any task again with another delay."""
    return world.has(Feature.SCRIPT_ADD, Feature.READD, Feature.CHANGE_DELAY)


def _armed_twice(world: World, source: Source, about: str) -> tuple[op.Action, ...]:
    """Draw an action that arms a task, and another action on the task; a throw may follow."""
    tick_ms, span = world.configuration.tick_ms, span_ms(world)
    one, other = (op.AddInside(about, tick_ms + source.integer(0, span)) for _ in range(2))
    pairs: list[tuple[op.Action, ...]] = [(one, other)]
    if world.has(Feature.SCRIPT_CANCEL):
        pairs += [(one, op.CancelInside(about)), (op.CancelInside(about), one)]
    throws = world.has(Feature.SCRIPT_THROW) and source.integer(0, 3) == 0
    return (*source.item(pairs), *((op.Throw(),) if throws else ()))


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
            delay_ms = source.integer(tick_ms, 3 * span_ms(world))
        if delay_ms >= tick_ms and (other != itself or delay_ms > 0):
            return op.AddInside(other, delay_ms)
    name = world.fresh_name()
    negative = world.profile.negative_delay is not NegativeDelay.NOT_OFFERED
    shortest = -1 if negative else 0
    delay_ms = source.item((shortest, 0, 1, tick_ms, source.integer(1, span_ms(world))))
    world.delays[name] = delay_ms
    return op.AddInside(name, delay_ms)


def advances(world: World, source: Source) -> list[op.Operation]:
    """Draw a task that advances, where time can pass after another has become due."""
    due_ms = world.now + source.integer(0, span_ms(world))
    task, other = world.fresh_name(), world.fresh_name()
    operations: list[op.Operation] = [op.Add(task, due_ms - world.now, (op.AdvanceInside(),))]
    if not world.has(Feature.ELAPSE):
        return [*operations, op.Advance(due_ms), *runs(world, source, due_ms)]
    later_ms = due_ms + source.integer(1, span_ms(world))
    operations += [op.Add(other, later_ms - world.now), op.Advance(due_ms), op.Elapse(later_ms)]
    return operations + runs(world, source, due_ms)


adds: Make = _scripted(_an_add)
"""Draws a task that adds a new task, or one that is known."""

cancels: Make = _scripted(_a_cancel)
"""Draws a task that cancels a pending task, or itself."""
