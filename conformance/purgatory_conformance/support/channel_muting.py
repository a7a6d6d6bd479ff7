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
from purgatory_conformance.reducing.channel_muting import (
    ChannelMutingCase,
    simpler_channel_muting_cases,
)
from purgatory_conformance.support.support import ComponentSupport, sibling_profiles
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
    """The case as it is, where the subject offers such a server and all that is asked."""
    if not needed(configuration) <= profile.features:
        return None
    return operations if ChannelMutingCase(configuration, operations).is_usable(profile) else None


CHANNEL_MUTING_SUPPORT = ComponentSupport(
    judged=JUDGED_CHANNEL_MUTING,
    situations=tuple(CHANNEL_MUTING_ROWS),
    suit=_suited,
    siblings=lambda profile: sibling_profiles(
        profile, "recovery", "ask_again", "end_while_waiting"
    ),
    configuration_of=draw_configuration,
    draft_of=ChannelMutingDraft,
    operations_of=draw_operations,
    case_of=ChannelMutingCase,
    is_usable=ChannelMutingCase.is_usable,
    simpler_of=lambda _, case: simpler_channel_muting_cases(case),
    picture=lambda case, number: panel_picture(channel_muting_scene(case), number),
)
"""What the suite knows of a server's channels."""
