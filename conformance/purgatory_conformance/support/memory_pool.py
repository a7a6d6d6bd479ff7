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
from purgatory_judge.case_judge import CaseJudge, Judge
from purgatory_judge.memory_pool.judge import MemoryPoolJudge
from purgatory_conformance.reducing.usable import memory_pool_is_usable
from purgatory_conformance.support.support import Asked, ComponentSupport, sibling_profiles
from purgatory_model.memory_pool import VARIANTS, MemoryPoolState
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
    """The case as it is, where the subject offers such a pool and all that is asked."""
    if sort_of(configuration) not in profile.features:
        return None
    return operations if memory_pool_is_usable(configuration, operations, profile) else None


MEMORY_POOL_SUPPORT = ComponentSupport(
    judged=JUDGED_MEMORY_POOL,
    situations=tuple(MEMORY_POOL_ROWS),
    suit=_suited,
    siblings=lambda profile: sibling_profiles(profile, "release_validation", "zero_request"),
    configuration_of=draw_configuration,
    draft_of=MemoryPoolDraft,
    operations_of=draw_operations,
    is_usable=memory_pool_is_usable,
    describe_operation=describe_memory_pool_operation,
    describe_outcome=describe_memory_pool_outcome,
    configuration_words=describe_memory_pool_configuration,
    profile_words=describe_memory_pool_profile,
    describe_state=describe_memory_pool_state,
    picture=lambda case, number: panel_picture(memory_pool_scene(case), number),
)
"""What the suite knows of the memory pool."""
