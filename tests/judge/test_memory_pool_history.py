"""A rule is visited by a step only if its violation would have been seen there."""

from purgatory_conformance.support.memory_pool import MEMORY_POOL_SUPPORT
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.cases import Case, MemoryPoolCaseHeader, Step

TEN = profiles.MemoryPoolConfiguration(10, 10)


def vector(*operations: op.Operation, features: frozenset[profiles.MemoryPoolFeature]) -> Case:
    header = MemoryPoolCaseHeader(
        case="vector", configuration=TEN, profile=profiles.MemoryPoolProfile(features=features)
    )
    return Case(header, tuple(Step(operation) for operation in operations))


def test_vectors_are_asked_where_they_can_be() -> None:
    """Those without it, or without such a pool, are not asked; nor is an unusable one anybody."""
    support = MEMORY_POOL_SUPPORT
    needed = frozenset({profiles.MemoryPoolFeature.RELEASE_SLICE})
    case = vector(op.Allocate("a", 1), op.Release("a", op.ReleaseForm.SLICE), features=needed)
    both = profiles.MemoryPoolProfile(features=needed | {profiles.MemoryPoolFeature.NON_STRICT})
    assert support.suited(case, both) == case.operations
    assert support.suited(case, profiles.MemoryPoolProfile(features=needed)) is None
    lacking = profiles.MemoryPoolProfile(
        features=frozenset({profiles.MemoryPoolFeature.NON_STRICT})
    )
    assert support.suited(case, lacking) is None
    assert support.suited(vector(op.Release("z"), features=needed), both) is None
