"""The cases of a server's channels: drawn, made simpler, pictured."""

from purgatory_conformance.drawing.channel_muting_panels import channel_muting_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.generation.channel_muting.table import (
    CHANNEL_MUTING_ROWS,
    ChannelMutingDraft,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.channel_muting.world import needed
from purgatory_conformance.reducing.usable import channel_muting_is_usable
from purgatory_conformance.support.support import ComponentSupport
from purgatory_judge.channel_muting.judged import JUDGED_CHANNEL_MUTING
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingProfile,
)


def _suited(
    configuration: ChannelMutingConfiguration,
    operations: tuple[Operation, ...],
    profile: ChannelMutingProfile,
) -> tuple[Operation, ...] | None:
    """Return the case unchanged where the subject offers such a server and all steps, or None."""
    if not needed(configuration) <= profile.features:
        return None
    return operations if channel_muting_is_usable(configuration, operations, profile) else None


CHANNEL_MUTING_SUPPORT = ComponentSupport(
    judged=JUDGED_CHANNEL_MUTING,
    situations=tuple(CHANNEL_MUTING_ROWS),
    suit=_suited,
    configuration_of=draw_configuration,
    draft_of=ChannelMutingDraft,
    operations_of=draw_operations,
    is_usable=channel_muting_is_usable,
    leaves_out=True,
    picture=lambda case, number: panel_picture(channel_muting_scene(case), number),
)
"""Draws, simplifies and pictures cases of a server's channels."""
