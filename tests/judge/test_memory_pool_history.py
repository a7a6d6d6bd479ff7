"""A vector is asked only of pools that offer what it needs."""

from purgatory_conformance.support.registry import support_of
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
    """A pool without the feature, or of another sort, is not asked; an unusable case never is."""
    support = support_of(profiles.Component.MEMORY_POOL)
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
