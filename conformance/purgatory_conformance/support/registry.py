"""The cases of each component: drawn, made simpler, pictured."""

from collections.abc import Mapping

from purgatory_conformance.drawing.channel_muting_panels import channel_muting_scene
from purgatory_conformance.drawing.memory_pool_panels import memory_pool_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.drawing.purgatory_panels import purgatory_scene
from purgatory_conformance.drawing.wheel_picture import wheel_picture
from purgatory_conformance.drawing.wheel_scene import scene_of
from purgatory_conformance.generation import real_clock
from purgatory_conformance.generation.channel_muting import table as channels
from purgatory_conformance.generation.channel_muting.world import needed
from purgatory_conformance.generation.memory_pool import table as pools
from purgatory_conformance.generation.memory_pool.world import sort_of
from purgatory_conformance.generation.purgatory import table as purgatories
from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer import table as timers
from purgatory_conformance.reducing import usable
from purgatory_conformance.support.support import ComponentSupport, Support
from purgatory_judge.channel_muting.judged import JUDGED_CHANNEL_MUTING
from purgatory_judge.memory_pool.judged import JUDGED_MEMORY_POOL
from purgatory_judge.purgatory.judged import JUDGED_PURGATORY
from purgatory_judge.timer.judged import JUDGED_TIMER
from purgatory_spec import profiles
from purgatory_spec.operations import Operation, RunOne


def _suited_timer(
    _: profiles.TimerConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.TimerProfile,
) -> tuple[Operation, ...] | None:
    """Return the case without runs that the executor cannot be asked for; none on a real clock."""
    on_real_clock = profile.clock is profiles.Clock.WALL
    if on_real_clock or not timers.delays_are_offered(operations, profile):
        return None
    return _with_runs_offered(operations, profile.executor)


def _suited_purgatory(
    _: profiles.PurgatoryConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.PurgatoryProfile,
) -> tuple[Operation, ...]:
    """Return the case without runs that the executor cannot be asked for."""
    return _with_runs_offered(operations, profile.executor)


def _with_runs_offered(
    operations: tuple[Operation, ...], executor: profiles.Executor
) -> tuple[Operation, ...]:
    is_stepped = executor is profiles.Executor.STEPPED
    return tuple(each for each in operations if is_stepped or not isinstance(each, RunOne))


def _suited_pool(
    configuration: profiles.MemoryPoolConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.MemoryPoolProfile,
) -> tuple[Operation, ...] | None:
    """Return the case unchanged where the subject offers such a pool and all steps, or None."""
    is_offered = sort_of(configuration) in profile.features
    is_usable = is_offered and usable.memory_pool_is_usable(configuration, operations, profile)
    return operations if is_usable else None


def _suited_channels(
    configuration: profiles.ChannelMutingConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.ChannelMutingProfile,
) -> tuple[Operation, ...] | None:
    """Return the case unchanged where the subject offers such a server and all steps, or None."""
    is_offered = needed(configuration) <= profile.features
    is_usable = is_offered and usable.channel_muting_is_usable(configuration, operations, profile)
    return operations if is_usable else None


def _timer_configuration(
    profile: profiles.TimerProfile, source: Source, wanted: frozenset[str]
) -> profiles.TimerConfiguration:
    if profile.clock is profiles.Clock.WALL:
        return real_clock.draw_real_clock_configuration(source)
    return timers.draw_configuration(profile, source, wanted)


def _timer_operations(
    configuration: profiles.TimerConfiguration,
    profile: profiles.TimerProfile,
    source: Source,
    most: int,
    wanted: frozenset[str],
) -> tuple[Operation, ...]:
    if profile.clock is profiles.Clock.WALL:
        return real_clock.draw_real_clock_operations(profile, source)
    return timers.draw_operations(configuration, profile, source, most=most, wanted=wanted)


SUPPORTS: Mapping[profiles.Component, Support] = {
    profiles.Component.TIMER: ComponentSupport(
        judged=JUDGED_TIMER,
        situations=tuple(row.name for row in timers.TIMER_TABLE),
        suit=_suited_timer,
        configuration_of=_timer_configuration,
        draft_of=timers.TimerDraft,
        operations_of=_timer_operations,
        is_usable=usable.timer_is_usable,
        picture=lambda case, number: wheel_picture(scene_of(case), case.divergence, number),
    ),
    profiles.Component.PURGATORY: ComponentSupport(
        judged=JUDGED_PURGATORY,
        situations=tuple(row.name for row in purgatories.PURGATORY_TABLE),
        suit=_suited_purgatory,
        configuration_of=purgatories.draw_purgatory_configuration,
        draft_of=purgatories.PurgatoryDraft,
        operations_of=purgatories.draw_purgatory_operations,
        is_usable=usable.purgatory_is_usable,
        picture=lambda case, number: panel_picture(purgatory_scene(case), number),
    ),
    profiles.Component.MEMORY_POOL: ComponentSupport(
        judged=JUDGED_MEMORY_POOL,
        situations=tuple(pools.MEMORY_POOL_ROWS),
        suit=_suited_pool,
        configuration_of=pools.draw_configuration,
        draft_of=pools.MemoryPoolDraft,
        operations_of=pools.draw_operations,
        is_usable=usable.memory_pool_is_usable,
        leaves_out=True,
        picture=lambda case, number: panel_picture(memory_pool_scene(case), number),
    ),
    profiles.Component.CHANNEL_MUTING: ComponentSupport(
        judged=JUDGED_CHANNEL_MUTING,
        situations=tuple(channels.CHANNEL_MUTING_ROWS),
        suit=_suited_channels,
        configuration_of=channels.draw_configuration,
        draft_of=channels.ChannelMutingDraft,
        operations_of=channels.draw_operations,
        is_usable=usable.channel_muting_is_usable,
        leaves_out=True,
        picture=lambda case, number: panel_picture(channel_muting_scene(case), number),
    ),
}
"""The cases of each component: drawn, made simpler, pictured."""


def support_of(component: profiles.Component) -> Support:
    """Return how the cases of a component are drawn, made simpler and pictured."""
    return SUPPORTS[component]
