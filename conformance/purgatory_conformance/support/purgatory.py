"""The cases of the purgatory: drawn, made simpler, pictured."""

from collections.abc import Iterator

import msgspec

from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.drawing.purgatory_panels import purgatory_scene
from purgatory_conformance.generation.purgatory.table import (
    PURGATORY_TABLE,
    PurgatoryDraft,
    draw_purgatory_configuration,
    draw_purgatory_operations,
)
from purgatory_conformance.reducing.usable import purgatory_is_usable
from purgatory_conformance.support.support import ComponentSupport, sibling_profiles
from purgatory_judge.purgatory.judged import JUDGED_PURGATORY
from purgatory_spec import profiles
from purgatory_spec.operations import Operation, RunOne


def _suited(
    configuration: profiles.PurgatoryConfiguration,
    operations: tuple[Operation, ...],
    profile: profiles.PurgatoryProfile,
) -> tuple[Operation, ...]:
    """Return the case without its runs where the executor is not stepped."""
    del configuration
    stepped = profile.executor is profiles.Executor.STEPPED
    return tuple(op for op in operations if stepped or not isinstance(op, RunOne))


def _alternatives(profile: profiles.PurgatoryProfile) -> Iterator[tuple[str, profiles.Profile]]:
    for words, sibling in sibling_profiles(profile, "check_order"):
        if profile.throwing_try is profiles.ThrowingTry.STOP:
            # Without an order no check is judged that an exception ends.
            features = profile.features - {profiles.PurgatoryFeature.SCRIPT_THROW}
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
    if profile.same_tick_order is profiles.SameTickOrder.FIFO:
        yield from sibling_profiles(profile, "same_tick_order")
    if profile.structure is profiles.Structure.DELAY_QUEUE_WHEEL:
        yield from sibling_profiles(profile, "structure")


PURGATORY_SUPPORT = ComponentSupport(
    judged=JUDGED_PURGATORY,
    situations=tuple(row.name for row in PURGATORY_TABLE),
    suit=_suited,
    siblings=_alternatives,
    configuration_of=draw_purgatory_configuration,
    draft_of=PurgatoryDraft,
    operations_of=draw_purgatory_operations,
    is_usable=purgatory_is_usable,
    picture=lambda case, number: panel_picture(purgatory_scene(case), number),
)
"""Draws, simplifies and pictures cases of the purgatory."""
