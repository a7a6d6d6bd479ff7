"""What the suite knows of the memory pool."""

from collections.abc import Iterator

from purgatory_judge.components import narrowed
from purgatory_conformance.describing.memory_pool_words import (
    describe_memory_pool_configuration,
    describe_memory_pool_operation,
    describe_memory_pool_outcome,
    describe_memory_pool_profile,
    describe_memory_pool_state,
)
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
    Component,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
)
from purgatory_spec.requirements import Requirement, requirements

_BOUNDED = frozenset({MemoryPoolFeature.STRICT, MemoryPoolFeature.NON_STRICT})

_WITHOUT_BOUND = frozenset(
    {
        "POOL-CONSTRUCT",
        "POOL-UNBOUNDED-GRANTS",
        "POOL-UNBOUNDED-NEGATIVE",
        "POOL-UNBOUNDED-RELEASE",
    }
)
"""The rules that an unbounded pool can be put to the test by."""


def _judge(asked: Asked[MemoryPoolConfiguration, MemoryPoolProfile]) -> Judge:
    """The judge of one case; the lenient one follows the variants that are declared."""
    begun = None if asked.state is None else narrowed(asked.state, MemoryPoolState)

    def following(*variants: str) -> MemoryPoolJudge:
        return MemoryPoolJudge(
            asked.configuration,
            asked.profile,
            frozenset(variants),
            forgetful=asked.forgetful,
            state=begun,
        )

    if not asked.deviations:
        return CaseJudge(following(), forgetful=asked.forgetful)
    lenient = following(*(deviation.variant for deviation in asked.deviations))
    declared = frozenset(deviation.rule for deviation in asked.deviations)
    return CaseJudge(following(), lenient, declared, forgetful=asked.forgetful)


def _rules(profile: MemoryPoolProfile) -> Iterator[Requirement]:
    """The rules; those of bounded pools only if the profile offers bounded pools."""
    bounded = bool(_BOUNDED & profile.features)
    for rule in requirements(Component.MEMORY_POOL):
        if bounded or rule.id in _WITHOUT_BOUND:
            yield rule


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
    component=Component.MEMORY_POOL,
    configuration_type=MemoryPoolConfiguration,
    profile_type=MemoryPoolProfile,
    variants=VARIANTS,
    situations=tuple(MEMORY_POOL_ROWS),
    judge_of=_judge,
    rules_of=_rules,
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
