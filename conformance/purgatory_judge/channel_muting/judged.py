"""Judges of a server's channels: their variants, and the rules that are judged."""

from functools import partial

from purgatory_judge.case_judge import AskedStep, CaseJudge, Judge, Trigger
from purgatory_judge.channel_muting.judge import ChannelMutingJudge
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_model.channel_muting import VARIANTS
from purgatory_spec.operations import PollWhile
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingProfile,
    Component,
)
from purgatory_spec.requirements import requirements_of_steps


def _waits_under_tls(step: AskedStep) -> bool:
    """Decide whether memory may be released while a channel with TLS waits for it."""
    waits = bool(step.state.waiting) or isinstance(step.operation, PollWhile)
    return step.configuration.tls and waits


def _waits_with_limit(step: AskedStep) -> bool:
    """Decide whether a channel waits for memory on a server that closes idle ones."""
    return bool(step.configuration.idle_limit_ms and step.state.waiting)


def _is_empty_under_tls(step: AskedStep) -> bool:
    """Decide whether an empty request comes over TLS."""
    coming = (each for channel in step.state.channels.values() for each in channel.coming)
    return step.configuration.tls and any(each.size_bytes == 0 for each in coming)


_TRIGGERS = {
    "tls_stuck": Trigger("a channel with TLS waits for memory", _waits_under_tls),
    "tls_forgets": Trigger("an empty request comes over TLS", _is_empty_under_tls),
    "waiting_is_idle": Trigger(
        "a channel of a server with an idle limit waits for memory", _waits_with_limit
    ),
}
"""The triggers of the variants."""


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
    triggers=_TRIGGERS,
    judge_of=_judge,
    rules_of=lambda _: requirements_of_steps(Component.CHANNEL_MUTING),
)
"""Types, variants, rules and judges of a server's channels."""
