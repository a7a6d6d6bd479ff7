"""Judges of a server's channels: their variants, and the rules that are judged."""

from functools import partial

from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.channel_muting.judge import ChannelMutingJudge
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_model.channel_muting import VARIANTS
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingProfile,
    Component,
)
from purgatory_spec.requirements import requirements_of_steps


def _judge(asked: Asked[ChannelMutingConfiguration, ChannelMutingProfile]) -> Judge:
    """Return the judge of one case; the lenient one follows the variants that are declared.

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
    """Return the judge of a subject that deviates from these rules as declared."""
    variants = frozenset(each.variant for each in asked.deviations if each.rule in rules)
    return ChannelMutingJudge(asked.configuration, asked.profile, variants)


JUDGED_CHANNEL_MUTING = JudgedComponent(
    component=Component.CHANNEL_MUTING,
    configuration_type=ChannelMutingConfiguration,
    profile_type=ChannelMutingProfile,
    variants=VARIANTS,
    judge_of=_judge,
    rules_of=lambda _: requirements_of_steps(Component.CHANNEL_MUTING),
)
"""Types, variants, rules and judges of a server's channels."""
