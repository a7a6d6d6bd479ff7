"""What the suite knows of the purgatory."""

from collections.abc import Iterator
from functools import partial

import msgspec

from purgatory_judge.components import narrowed
from purgatory_conformance.describing.purgatory_states import describe_purgatory_state
from purgatory_conformance.describing.purgatory_words import (
    describe_purgatory_configuration,
    describe_purgatory_operation,
    describe_purgatory_outcome,
    describe_purgatory_profile,
)
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.drawing.purgatory_panels import purgatory_scene
from purgatory_conformance.generation.purgatory.table import (
    PURGATORY_TABLE,
    PurgatoryDraft,
    draw_purgatory_configuration,
    draw_purgatory_operations,
)
from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.purgatory.judge import PurgatoryJudge
from purgatory_conformance.reducing.usable import purgatory_is_usable
from purgatory_conformance.support.support import Asked, ComponentSupport, sibling_profiles
from purgatory_model.claims.purgatory_variants import VARIANTS
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.profiles import (
    Component,
    Executor,
    Profile,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
    SameTickOrder,
    Structure,
    ThrowingTry,
)
from purgatory_spec.requirements import Requirement, requirements

_ENTRIES = frozenset(
    {
        PurgatoryObservable.ENTRIES,
        PurgatoryObservable.STALE_ENTRIES,
        PurgatoryObservable.STALE_OPERATIONS,
    }
)
_SHOWN_BY_ENTRIES = frozenset(
    {"PURGATORY-PURGE-START", "PURGATORY-PURGE-REMOVES", "PURGATORY-CHECK-DROPS"}
)
"""Rules that are put to the test only where a subject shows one of these observables."""


def _judge(asked: Asked[PurgatoryConfiguration, PurgatoryProfile]) -> Judge:
    """The judge of one case; the lenient one follows the variants that are declared."""
    if not asked.deviations:
        return CaseJudge(_excusing(asked), forgetful=asked.forgetful)
    excusing = partial(_excusing, asked)
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    lenient = excusing(*declared)
    return CaseJudge(excusing(), lenient, declared, excusing, forgetful=asked.forgetful)


def _excusing(
    asked: Asked[PurgatoryConfiguration, PurgatoryProfile], *rules: str
) -> PurgatoryJudge:
    """The judge of a subject that deviates from these rules as it is declared to."""
    return PurgatoryJudge(
        asked.configuration,
        asked.profile,
        frozenset(rules),
        frozenset(each.variant for each in asked.deviations if each.rule in rules),
        forgetful=asked.forgetful,
        state=None if asked.state is None else narrowed(asked.state, PurgatoryState),
    )


def _rules(profile: PurgatoryProfile) -> Iterator[Requirement]:
    """The rules whose breach the subject would show."""
    return (rule for rule in requirements(Component.PURGATORY) if _is_shown(rule.id, profile))


def _is_shown(rule: str, profile: PurgatoryProfile) -> bool:
    """Whether a subject of this profile would show that it breaks a rule."""
    if rule in _SHOWN_BY_ENTRIES and not _ENTRIES & profile.observables:
        return False
    if profile.executor is Executor.STEPPED:
        return True
    if rule == "PURGATORY-LOST-EXPIRY":
        inside = {PurgatoryFeature.SCRIPT_FORCE, PurgatoryFeature.SCRIPT_CHECK}
        return bool(inside & profile.features)
    if rule == "PURGATORY-TIMER-LEFT":
        timer = {PurgatoryObservable.TIMER_SIZE, PurgatoryObservable.PENDING}
        return bool(timer & profile.observables)
    return True


def _suited(
    configuration: PurgatoryConfiguration,
    operations: tuple[Operation, ...],
    profile: PurgatoryProfile,
) -> tuple[Operation, ...]:
    """The case without its runs where the executor is not stepped."""
    del configuration
    stepped = profile.executor is Executor.STEPPED
    return tuple(op for op in operations if stepped or not isinstance(op, RunOne))


def _alternatives(profile: PurgatoryProfile) -> Iterator[tuple[str, Profile]]:
    for words, sibling in sibling_profiles(profile, "check_order"):
        if profile.throwing_try is ThrowingTry.STOP:
            # Without an order no check is judged that an exception ends.
            features = profile.features - {PurgatoryFeature.SCRIPT_THROW}
            sibling = msgspec.structs.replace(sibling, features=features)
        yield words, sibling
    yield from sibling_profiles(
        profile,
        "accounting",
        "purge_due",
        "first_try",
        "check_drops",
        "throwing_try",
        "cancel_result",
        "rounding",
        "negative_delay",
        "already_due",
    )
    if profile.same_tick_order is SameTickOrder.FIFO:
        yield from sibling_profiles(profile, "same_tick_order")
    if profile.structure is Structure.DELAY_QUEUE_WHEEL:
        yield from sibling_profiles(profile, "structure")


PURGATORY_SUPPORT = ComponentSupport(
    component=Component.PURGATORY,
    configuration_type=PurgatoryConfiguration,
    profile_type=PurgatoryProfile,
    variants=VARIANTS,
    situations=tuple(row.name for row in PURGATORY_TABLE),
    judge_of=_judge,
    rules_of=_rules,
    suit=_suited,
    siblings=_alternatives,
    configuration_of=draw_purgatory_configuration,
    draft_of=PurgatoryDraft,
    operations_of=draw_purgatory_operations,
    is_usable=purgatory_is_usable,
    describe_operation=describe_purgatory_operation,
    describe_outcome=describe_purgatory_outcome,
    configuration_words=describe_purgatory_configuration,
    profile_words=describe_purgatory_profile,
    describe_state=describe_purgatory_state,
    picture=lambda case, number: panel_picture(purgatory_scene(case), number),
)
"""What the suite knows of the purgatory."""
