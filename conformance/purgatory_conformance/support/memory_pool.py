"""The cases of the memory pool: drawn, made simpler, pictured."""

from purgatory_conformance.drawing.memory_pool_panels import memory_pool_scene
from purgatory_conformance.drawing.panel_picture import panel_picture
from purgatory_conformance.generation.memory_pool.table import (
    MEMORY_POOL_ROWS,
    MemoryPoolDraft,
    draw_configuration,
    draw_operations,
)
from purgatory_conformance.generation.memory_pool.world import sort_of
from purgatory_conformance.reducing.usable import memory_pool_is_usable
from purgatory_conformance.support.support import ComponentSupport
from purgatory_judge.memory_pool.judged import JUDGED_MEMORY_POOL
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolProfile,
)


def _suited(
    configuration: MemoryPoolConfiguration,
    operations: tuple[Operation, ...],
    profile: MemoryPoolProfile,
) -> tuple[Operation, ...] | None:
    """Return the case unchanged where the subject offers such a pool and all steps, or None."""
    if sort_of(configuration) not in profile.features:
        return None
    return operations if memory_pool_is_usable(configuration, operations, profile) else None


MEMORY_POOL_SUPPORT = ComponentSupport(
    judged=JUDGED_MEMORY_POOL,
    situations=tuple(MEMORY_POOL_ROWS),
    suit=_suited,
    configuration_of=draw_configuration,
    draft_of=MemoryPoolDraft,
    operations_of=draw_operations,
    is_usable=memory_pool_is_usable,
    leaves_out=True,
    picture=lambda case, number: panel_picture(memory_pool_scene(case), number),
)
"""Draws, simplifies and pictures cases of the memory pool."""
