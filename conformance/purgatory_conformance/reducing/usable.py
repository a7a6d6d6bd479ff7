"""Decide what a subject can be asked: what a simplification proposes may make no sense."""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from purgatory_conformance.generation.channel_muting import world as channel_muting
from purgatory_conformance.generation.fields import Operations, name_of, parts
from purgatory_conformance.generation.looks import drops_are_kept
from purgatory_conformance.generation.memory_pool import world as memory_pool
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.timer.table import delays_are_offered
from purgatory_model.step import TooManyBranches
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Add,
    AddInside,
    ForceInside,
    Operation,
    Satisfy,
    Watch,
    WatchInside,
)


def clock_goes_on(start_ms: int, operations: Iterable[Operation]) -> bool:
    """Decide whether no operation sets the clock back."""
    times = [start_ms, *(op.to_ms for op in operations if hasattr(op, "to_ms"))]
    return times == sorted(times)


def timer_is_usable(
    configuration: profiles.TimerConfiguration,
    operations: Operations,
    profile: profiles.TimerProfile,
) -> bool:
    """Decide whether the case ends, its delays are offered, and no fixed delay changes.

    Whoever runs all that is due would never end where a task makes itself due at once.
    """
    if not clock_goes_on(configuration.start_ms, operations) or not drops_are_kept(operations):
        return False
    if not delays_are_offered(operations, profile):
        return False
    if profile.executor is not profiles.Executor.STEPPED and not _comes_to_rest(
        configuration, operations
    ):
        return False
    if profiles.Feature.READD not in profile.features and not _are_added_once(operations):
        return False
    return profiles.Feature.CHANGE_DELAY in profile.features or _delays_agree(operations)


def _are_added_once(operations: Operations) -> bool:
    """Decide whether no task is added again, from outside or from inside."""
    adds = [part.task for part in parts(operations) if isinstance(part, Add | AddInside)]
    return len(set(adds)) == len(adds)


def _delays_agree(operations: Operations) -> bool:
    """Decide whether each task has one delay throughout, from outside and from inside."""
    adds = [part for part in parts(operations) if isinstance(part, Add | AddInside)]
    return len({add.task for add in adds}) == len({(add.task, add.delay_ms) for add in adds})


def _comes_to_rest(configuration: profiles.TimerConfiguration, operations: Operations) -> bool:
    """Decide whether no task makes itself due again at once, by its own run or by others'."""
    makes_due: dict[str, set[str]] = {}
    for add in (operation for operation in operations if isinstance(operation, Add)):
        inside = [action for action in add.script if isinstance(action, AddInside)]
        at_once = {each.task for each in inside if each.delay_ms < configuration.tick_ms}
        makes_due.setdefault(add.task, set()).update(at_once)
    try:
        TopologicalSorter(makes_due).prepare()
    except CycleError:
        return False
    return True


def purgatory_is_usable(
    configuration: profiles.PurgatoryConfiguration,
    operations: Operations,
    profile: profiles.PurgatoryProfile,
) -> bool:
    """Decide whether keys, delays and names are such as a subject of the profile is asked for."""
    if not clock_goes_on(configuration.start_ms, operations) or not drops_are_kept(operations):
        return False
    for watch in (part for part in parts(operations) if isinstance(part, Watch | WatchInside)):
        is_doubled = len(set(watch.keys)) < len(watch.keys)
        if is_doubled and profiles.PurgatoryFeature.DUPLICATE_KEYS not in profile.features:
            return False
        if watch.delay_ms < 0 and profile.negative_delay is profiles.NegativeDelay.NOT_OFFERED:
            return False
    if profiles.PurgatoryFeature.REWATCH in profile.features:
        return True
    return _names_are_introduced(operations) and not _completes_early(
        configuration, operations, profile
    )


def _names_are_introduced(operations: Operations) -> bool:
    """Decide whether only known operations are satisfied, and only unknown ones are watched."""
    known: set[str] = set()
    for operation in operations:
        introduced = _watched(operation)
        if known & introduced or (
            isinstance(operation, Satisfy) and name_of(operation) not in known
        ):
            return False
        known |= introduced | {name_of(operation)}
    return True


def _watched(value: object) -> set[str]:
    """Return the operations that are watched by steps, or by actions in their scripts."""
    return {each.operation for each in parts(value) if isinstance(each, Watch | WatchInside)}


def _completes_early(
    configuration: profiles.PurgatoryConfiguration,
    operations: Operations,
    profile: profiles.PurgatoryProfile,
) -> bool:
    """Decide whether a script completes what is watched later, which would be watched again."""
    if not any(isinstance(each, ForceInside) for each in parts(operations)):
        return False
    world = PurgatoryWorld(configuration, profile)
    for operation in operations:
        try:
            world.apply(operation)
        except TooManyBranches:
            break
    return not world.early.isdisjoint(_watched(operations))


def memory_pool_is_usable(
    configuration: profiles.MemoryPoolConfiguration,
    operations: Operations,
    profile: profiles.MemoryPoolProfile,
) -> bool:
    """Decide whether such a pool is offered, and names mean what they should."""
    offered = memory_pool.is_offered(configuration, profile)
    return offered and _can_be_asked(
        memory_pool.MemoryPoolWorld(configuration, profile), operations
    )


def channel_muting_is_usable(
    configuration: profiles.ChannelMutingConfiguration,
    operations: Operations,
    profile: profiles.ChannelMutingProfile,
) -> bool:
    """Decide whether such a server is offered, and names mean what they should.

    What the world does not know is not asked about: a release or a response of a request that
    it has not received, because another end of a poll is as right, may be left out later.
    """
    offered = channel_muting.is_offered(configuration, profile)
    world = channel_muting.ChannelMutingWorld(configuration, profile)
    return offered and _can_be_asked(world, operations)


def _can_be_asked(
    world: memory_pool.MemoryPoolWorld | channel_muting.ChannelMutingWorld, operations: Operations
) -> bool:
    for operation in operations:
        if not world.can_be_asked(operation):
            return False
        try:
            world.apply(operation)
        except TooManyBranches:
            return False
    return True
