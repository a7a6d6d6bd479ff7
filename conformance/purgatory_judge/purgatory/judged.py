"""Judges of a purgatory: their variants, and the rules that a profile can be seen to break."""

from collections.abc import Iterator
from functools import partial

from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.components import narrowed
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_judge.purgatory.judge import PurgatoryJudge
from purgatory_model.claims.purgatory_variants import VARIANTS
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec import profiles
from purgatory_spec.requirements import Requirement, requirements

_ENTRIES = frozenset(
    {
        profiles.PurgatoryObservable.ENTRIES,
        profiles.PurgatoryObservable.STALE_ENTRIES,
        profiles.PurgatoryObservable.STALE_OPERATIONS,
    }
)
_SHOWN_BY_ENTRIES = frozenset(
    {"PURGATORY-PURGE-START", "PURGATORY-PURGE-REMOVES", "PURGATORY-CHECK-DROPS"}
)
"""Rules that are put to the test only where a subject shows one of these observables."""


def _judge(asked: Asked[profiles.PurgatoryConfiguration, profiles.PurgatoryProfile]) -> Judge:
    """Return the judge of one case; the lenient one follows the variants that are declared."""
    if not asked.deviations:
        return CaseJudge(_excusing(asked), forgetful=asked.forgetful)
    excusing = partial(_excusing, asked)
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    lenient = excusing(*declared)
    return CaseJudge(excusing(), lenient, declared, excusing, forgetful=asked.forgetful)


def _excusing(
    asked: Asked[profiles.PurgatoryConfiguration, profiles.PurgatoryProfile], *rules: str
) -> PurgatoryJudge:
    """Return the judge of a subject that deviates from these rules as declared."""
    return PurgatoryJudge(
        asked.configuration,
        asked.profile,
        frozenset(rules),
        frozenset(each.variant for each in asked.deviations if each.rule in rules),
        forgetful=asked.forgetful,
        state=None if asked.state is None else narrowed(asked.state, PurgatoryState),
    )


def _rules(profile: profiles.PurgatoryProfile) -> Iterator[Requirement]:
    """Yield the rules whose breach the subject would show."""
    return (
        rule for rule in requirements(profiles.Component.PURGATORY) if _is_shown(rule.id, profile)
    )


def _is_shown(rule: str, profile: profiles.PurgatoryProfile) -> bool:
    """Decide whether a subject of this profile would show that it breaks a rule."""
    if rule in _SHOWN_BY_ENTRIES and not _ENTRIES & profile.observables:
        return False
    if profile.executor is profiles.Executor.STEPPED:
        return True
    if rule == "PURGATORY-LOST-EXPIRY":
        inside = {profiles.PurgatoryFeature.SCRIPT_FORCE, profiles.PurgatoryFeature.SCRIPT_CHECK}
        return bool(inside & profile.features)
    if rule == "PURGATORY-TIMER-LEFT":
        timer = {profiles.PurgatoryObservable.TIMER_SIZE, profiles.PurgatoryObservable.PENDING}
        return bool(timer & profile.observables)
    return True


JUDGED_PURGATORY = JudgedComponent(
    component=profiles.Component.PURGATORY,
    configuration_type=profiles.PurgatoryConfiguration,
    profile_type=profiles.PurgatoryProfile,
    variants=VARIANTS,
    judge_of=_judge,
    rules_of=_rules,
)
"""Types, variants, rules and judges of a purgatory."""
