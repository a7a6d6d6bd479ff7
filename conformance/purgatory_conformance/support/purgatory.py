"""The cases of the purgatory: drawn, made simpler, pictured."""

from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.drawing.purgatory_panels import purgatory_scene
from purgatory_conformance.generation.purgatory.table import (
    PURGATORY_TABLE,
    PurgatoryDraft,
    draw_purgatory_configuration,
    draw_purgatory_operations,
)
from purgatory_conformance.reducing.usable import purgatory_is_usable
from purgatory_conformance.support.support import ComponentSupport
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


PURGATORY_SUPPORT = ComponentSupport(
    judged=JUDGED_PURGATORY,
    situations=tuple(row.name for row in PURGATORY_TABLE),
    suit=_suited,
    configuration_of=draw_purgatory_configuration,
    draft_of=PurgatoryDraft,
    operations_of=draw_purgatory_operations,
    is_usable=purgatory_is_usable,
    picture=lambda case, number: panel_picture(purgatory_scene(case), number),
)
"""Draws, simplifies and pictures cases of the purgatory."""
