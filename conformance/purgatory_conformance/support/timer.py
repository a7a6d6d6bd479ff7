"""The cases of the timer: drawn, made simpler, pictured."""

from purgatory_conformance.drawing.wheel_picture import wheel_picture
from purgatory_conformance.drawing.wheel_scene import scene_of
from purgatory_conformance.generation.real_clock import (
    draw_real_clock_configuration,
    draw_real_clock_operations,
)
from purgatory_conformance.generation.source import Source
from purgatory_conformance.generation.timer.table import (
    TIMER_TABLE,
    TimerDraft,
    delays_are_offered,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.reducing.usable import timer_is_usable
from purgatory_conformance.support.support import ComponentSupport
from purgatory_judge.timer.judged import JUDGED_TIMER
from purgatory_spec import profiles
from purgatory_spec.operations import Operation, RunOne


def _suited(
    configuration: profiles.TimerConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.TimerProfile,
) -> tuple[Operation, ...] | None:
    """Return the case without its runs where the executor is not stepped; none on a real clock."""
    del configuration
    if profile.clock is profiles.Clock.WALL or not delays_are_offered(operations, profile):
        return None
    stepped = profile.executor is profiles.Executor.STEPPED
    return tuple(op for op in operations if stepped or not isinstance(op, RunOne))


def _draw_configuration(
    profile: profiles.TimerProfile, source: Source, wanted: frozenset[str]
) -> profiles.TimerConfiguration:
    if profile.clock is profiles.Clock.WALL:
        return draw_real_clock_configuration(source)
    return draw_configuration(profile, source, wanted)


def _draw_operations(
    configuration: profiles.TimerConfiguration,
    profile: profiles.TimerProfile,
    source: Source,
    most: int,
    wanted: frozenset[str],
) -> tuple[Operation, ...]:
    if profile.clock is profiles.Clock.WALL:
        return draw_real_clock_operations(profile, source)
    return draw_operations(configuration, profile, source, most=most, wanted=wanted)


TIMER_SUPPORT = ComponentSupport(
    judged=JUDGED_TIMER,
    situations=tuple(row.name for row in TIMER_TABLE),
    suit=_suited,
    configuration_of=_draw_configuration,
    draft_of=TimerDraft,
    operations_of=_draw_operations,
    is_usable=timer_is_usable,
    picture=lambda case, number: wheel_picture(scene_of(case), case.divergence, number),
)
"""Draws, simplifies and pictures cases of the timer."""
