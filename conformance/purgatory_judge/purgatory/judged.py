"""Judges of a purgatory: their variants, and the rules that a profile can be seen to break."""

from collections.abc import Iterator
from functools import partial

from purgatory_judge.case_judge import AskedStep, CaseJudge, Judge, Trigger
from purgatory_judge.components import narrowed
from purgatory_judge.judged import Asked, JudgedComponent
from purgatory_judge.purgatory.judge import PurgatoryJudge
from purgatory_model.claims.purgatory_variants import VARIANTS
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec import operations as op
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

_BOUNDS = frozenset({"PURGATORY-STALE-OPERATIONS", "PURGATORY-STALE-ENTRIES"})
"""The rules that ``stale_uncounted`` excuses: more stale operations have more entries, too."""


def _calls(operation: op.Operation) -> Iterator[op.CallbackAction]:
    """Yield what the script of a watch does, on this thread or on another one."""
    if isinstance(operation, op.Watch):
        script = operation.script
        for actions in (script.on_complete, script.on_expiration, *script.on_try):
            for action in actions:
                yield action.call if isinstance(action, op.Meanwhile) else action


def _throws(step: AskedStep) -> bool:
    """Decide whether a step brings an operation whose try may throw."""
    answers = step.operation.script.tries if isinstance(step.operation, op.Watch) else ()
    thrown = any(isinstance(each, op.Throw) for each in _calls(step.operation))
    return thrown or any(answer.throws for answer in answers)


def _cancels(step: AskedStep) -> bool:
    """Decide whether a step cancels for a key, or brings a callback that does."""
    inside = any(isinstance(each, op.CancelForKeyInside) for each in _calls(step.operation))
    return inside or isinstance(step.operation, op.CancelForKey)


def _has_no_keys(step: AskedStep) -> bool:
    """Decide whether a step watches under no key, or brings a callback that does."""
    watches = op.Watch | op.WatchInside
    return any(
        isinstance(each, watches) and not each.keys
        for each in (step.operation, *_calls(step.operation))
    )


def _is_completed(step: AskedStep) -> bool:
    """Decide whether a step watches what may be completed already, or brings a callback that does.

    A try may force its own operation.
    """
    if not isinstance(step.operation, op.Watch):
        return False
    known = step.state.operations.get(step.operation.operation)
    inside = any(isinstance(each, op.WatchInside) for each in _calls(step.operation))
    return inside or bool(step.operation.script.on_try) or (known is not None and known.completed)


_WATCHED_COMPLETED = Trigger("an operation that is completed is watched", _is_completed)

_TRIGGERS = {
    "completed_uncounted": _WATCHED_COMPLETED,
    "completed_watched": _WATCHED_COMPLETED,
    "no_keys_internal": Trigger("an operation is watched under no key", _has_no_keys),
    "open_after_shutdown": Trigger("the purgatory is shut down", lambda step: step.state.closed),
    "second_try_unarmed": Trigger("a try throws", _throws),
    "stale_uncounted": Trigger(
        "the timer is advanced", lambda step: isinstance(step.operation, op.Advance)
    ),
    "time_out_taken_with_key": Trigger("watching is cancelled for a key", _cancels),
}
"""The triggers of the variants."""


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
    variants = frozenset(each.variant for each in asked.deviations if each.rule in rules)
    return PurgatoryJudge(
        asked.configuration,
        asked.profile,
        _BOUNDS if "stale_uncounted" in variants else frozenset(),
        variants,
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
    triggers=_TRIGGERS,
    judge_of=_judge,
    rules_of=_rules,
)
"""Types, variants, rules and judges of a purgatory."""
