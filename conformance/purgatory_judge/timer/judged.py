"""Judges of a timer: their variants, and the rules that a profile can be seen to break."""

from collections.abc import Iterator

from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.components import narrowed
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_judge.timer.judge import TimerJudge
from purgatory_judge.timer.real_clock_judge import RealClockJudge
from purgatory_judge.timer.variant_judge import VariantJudge
from purgatory_model.claims.timer_variants import VARIANTS
from purgatory_model.timer import TimerState
from purgatory_spec import profiles
from purgatory_spec.requirements import Requirement, requirements

_ON_A_REAL_CLOCK = frozenset(
    {
        "TIMER-LATENESS",
        "TIMER-NOT-EARLY",
        "TIMER-NOT-LATE",
        "TIMER-EXACTLY-ONCE",
        "TIMER-ROUNDING",
        "TIMER-ALREADY-DUE",
        "TIMER-ZERO-DELAY",
        "TIMER-NEGATIVE-DELAY",
        "TIMER-READD-PENDING",
        "TIMER-READD-CANCELLED",
        "TIMER-READD-FIRED",
        "TIMER-CANCEL",
        "TIMER-CANCEL-AGAIN",
        "TIMER-CANCEL-FIRED",
        "TIMER-CANCEL-UNKNOWN",
        "TIMER-SIZE",
    }
)
"""The rules that can be judged where time really passes; the others need a manual clock."""


def _judge(asked: Asked[profiles.TimerConfiguration, profiles.TimerProfile]) -> Judge:
    """Return the judge of one case: by intervals on a real clock, by the model on a manual one."""
    configuration, profile, forgetful = asked.configuration, asked.profile, asked.forgetful
    if profile.clock is profiles.Clock.WALL:
        return RealClockJudge(configuration, profile)
    begun = None if asked.state is None else narrowed(asked.state, TimerState)
    strict = TimerJudge(configuration, profile, forgetful=forgetful, state=begun)
    if not asked.deviations:
        return CaseJudge(strict, forgetful=forgetful)
    if begun is not None:
        raise ValueError("the variants of a timer begin with a fresh one")
    names = frozenset(deviation.variant for deviation in asked.deviations)
    lenient = VariantJudge(configuration, profile, names, forgetful=forgetful)
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    return CaseJudge(strict, lenient, declared, forgetful=forgetful)


def _rules(profile: profiles.TimerProfile) -> Iterator[Requirement]:
    """Yield the rules; for a real clock only those that can be judged by intervals."""
    for rule in requirements(profiles.Component.TIMER):
        if profile.clock is profiles.Clock.MANUAL or rule.id in _ON_A_REAL_CLOCK:
            yield rule


JUDGED_TIMER = JudgedComponent(
    component=profiles.Component.TIMER,
    configuration_type=profiles.TimerConfiguration,
    profile_type=profiles.TimerProfile,
    variants=VARIANTS,
    judge_of=_judge,
    rules_of=_rules,
)
"""Types, variants, rules and judges of a timer."""
