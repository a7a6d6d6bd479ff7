"""What the suite knows of a server's channels, which wait for memory."""

from functools import partial

from purgatory_conformance.describing.channel_muting_words import (
    describe_channel_muting_configuration,
    describe_channel_muting_operation,
    describe_channel_muting_outcome,
    describe_channel_muting_profile,
    describe_channel_muting_state,
)
from purgatory_conformance.drawing.channel_muting_panels import channel_muting_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.generation.channel_muting.table import (
    CHANNEL_MUTING_ROWS,
    ChannelMutingDraft,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.channel_muting.world import needed
from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.channel_muting.judge import ChannelMutingJudge
from purgatory_conformance.reducing.usable import channel_muting_is_usable
from purgatory_conformance.support.support import Asked, ComponentSupport, sibling_profiles
from purgatory_model.channel_muting import VARIANTS
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingProfile,
    Component,
)
from purgatory_spec.requirements import requirements_of_steps


def _judge(asked: Asked[ChannelMutingConfiguration, ChannelMutingProfile]) -> Judge:
    """The judge of one case; the lenient one follows the variants that are declared.

    Raises:
        ValueError: a state is given: no trace begins with one.
    """
    if asked.state is not None:
        raise ValueError("a case of a server's channels begins without connections")
    if not asked.deviations:
        return CaseJudge(_excusing(asked), forgetful=asked.forgetful)
    excusing = partial(_excusing, asked)
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    lenient = excusing(*declared)
    return CaseJudge(excusing(), lenient, declared, excusing, forgetful=asked.forgetful)


def _excusing(
    asked: Asked[ChannelMutingConfiguration, ChannelMutingProfile], *rules: str
) -> ChannelMutingJudge:
    """The judge of a subject that deviates from these rules as it is declared to."""
    variants = frozenset(each.variant for each in asked.deviations if each.rule in rules)
    return ChannelMutingJudge(asked.configuration, asked.profile, variants)


def _suited(
    configuration: ChannelMutingConfiguration,
    operations: tuple[Operation, ...],
    profile: ChannelMutingProfile,
) -> tuple[Operation, ...] | None:
    """The case as it is, where the subject offers such a server and all that is asked."""
    if not needed(configuration) <= profile.features:
        return None
    return operations if channel_muting_is_usable(configuration, operations, profile) else None


CHANNEL_MUTING_SUPPORT = ComponentSupport(
    component=Component.CHANNEL_MUTING,
    configuration_type=ChannelMutingConfiguration,
    profile_type=ChannelMutingProfile,
    variants=VARIANTS,
    situations=tuple(CHANNEL_MUTING_ROWS),
    judge_of=_judge,
    rules_of=lambda _: requirements_of_steps(Component.CHANNEL_MUTING),
    suit=_suited,
    siblings=lambda profile: sibling_profiles(
        profile, "recovery", "ask_again", "end_while_waiting"
    ),
    configuration_of=draw_configuration,
    draft_of=ChannelMutingDraft,
    operations_of=draw_operations,
    is_usable=channel_muting_is_usable,
    describe_operation=describe_channel_muting_operation,
    describe_outcome=describe_channel_muting_outcome,
    configuration_words=describe_channel_muting_configuration,
    profile_words=describe_channel_muting_profile,
    describe_state=describe_channel_muting_state,
    picture=lambda case, number: panel_picture(channel_muting_scene(case), number),
)
"""What the suite knows of a server's channels."""
