"""What is generated for memory pools: usable, within what was declared, and reducible."""

import pytest

from purgatory_conformance.generation.memory_pool.world import sort_of
from purgatory_conformance.running.shrinking import reduce_case, simpler_cases, size_of
from purgatory_conformance.specimens.small.memory_pool import PROFILE
from purgatory_conformance.support.memory_pool import MEMORY_POOL_SUPPORT as SUPPORT
from purgatory_conformance.support.support import Candidate
from purgatory_judge.components import narrowed
from purgatory_spec import profiles
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Elapse,
    Fill,
    Lose,
    Operation,
    Read,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
)
from tests.conformance.generated import drawn

SORTS = {
    profiles.MemoryPoolFeature.STRICT,
    profiles.MemoryPoolFeature.NON_STRICT,
    profiles.MemoryPoolFeature.UNBOUNDED,
}


def seeded(
    seed: int, profile: profiles.MemoryPoolProfile = PROFILE, wanted: frozenset[str] = frozenset()
) -> Candidate:
    return drawn(profiles.Component.MEMORY_POOL, profile, seed, most=40, wanted=wanted)


def feature_of(operation: Operation, released: set[str]) -> profiles.MemoryPoolFeature | None:
    """The feature that an operation needs."""
    match operation:
        case Release(buffer, ReleaseForm.ITSELF):
            return profiles.MemoryPoolFeature.RELEASE_AGAIN if buffer in released else None
        case Release(_, ReleaseForm.SLICE):
            return profiles.MemoryPoolFeature.RELEASE_SLICE
        case Release():
            return profiles.MemoryPoolFeature.RELEASE_COPY
        case ReleaseForeign():
            return profiles.MemoryPoolFeature.RELEASE_FOREIGN
        case ReleaseNothing():
            return profiles.MemoryPoolFeature.RELEASE_NOTHING
        case Lose():
            return profiles.MemoryPoolFeature.LEAK_DETECTION
        case Construct():
            return profiles.MemoryPoolFeature.CONSTRUCT
        case Elapse():
            return profiles.MemoryPoolFeature.ELAPSE
        case Fill() | Read():
            return profiles.MemoryPoolFeature.FILL
        case Allocate(fail=True):
            return profiles.MemoryPoolFeature.FAIL
        case _:
            return None


@pytest.mark.parametrize("feature", [None, *profiles.MemoryPoolFeature])
def test_only_declared_features_are_asked_for(feature: profiles.MemoryPoolFeature | None) -> None:
    """No operation and no pool needs another one, and the feature is made use of."""
    profile = profiles.MemoryPoolProfile(features=frozenset({feature} if feature else ()))
    used: set[profiles.MemoryPoolFeature] = set()
    for seed in range(40):
        case = seeded(seed, profile)
        configuration = narrowed(case.configuration, profiles.MemoryPoolConfiguration)
        if feature in SORTS:
            used.add(sort_of(configuration))
        released: set[str] = set()
        for operation in case.operations:
            needed = feature_of(operation, released)
            used |= {needed} if needed else set()
            if isinstance(operation, Release) and operation.form is ReleaseForm.ITSELF:
                released.add(operation.buffer)
    assert used == ({feature} if feature else set())


@pytest.mark.parametrize("rule", ["POOL-STRICT", "POOL-NON-STRICT", "POOL-UNBOUNDED-NEGATIVE"])
def test_a_wanted_rule_gets_the_pool_that_shows_it(rule: str) -> None:
    """Given a rule that one sort of pool alone shows: only such pools are made."""
    sorts = set()
    for seed in range(20):
        configuration = seeded(seed, wanted=frozenset({rule})).configuration
        sorts.add(sort_of(narrowed(configuration, profiles.MemoryPoolConfiguration)))
    assert len(sorts) == 1


@pytest.mark.parametrize(
    "operations",
    [
        (Release("a"),),
        (Allocate("a", 41), Release("a")),
        (Allocate("a", 1), Allocate("a", 1)),
        (Allocate("a", 1), Release("a"), Lose("a")),
        (Allocate("a", 1), Release("a"), Release("a", ReleaseForm.SLICE)),
        (Elapse(5), Elapse(4)),
    ],
)
def test_unusable_cases_are_told(operations: tuple[Operation, ...]) -> None:
    """When a case is made of them, no subject can be asked it."""
    assert not SUPPORT.usable(PROFILE, Candidate(profiles.MemoryPoolConfiguration(), operations))


def test_a_pool_of_an_undeclared_sort_is_unusable() -> None:
    """Given a subject that offers strict pools alone: only the strict one is usable."""
    profile = profiles.MemoryPoolProfile(features=frozenset({profiles.MemoryPoolFeature.STRICT}))
    sorts = [
        profiles.MemoryPoolConfiguration(),
        profiles.MemoryPoolConfiguration(strict=True),
        profiles.MemoryPoolConfiguration(unbounded=True),
    ]
    usable = [SUPPORT.usable(profile, Candidate(configuration, ())) for configuration in sorts]
    assert usable == [False, True, False]


def test_simpler_cases_shrink_in_the_end() -> None:
    """Some are smaller, and leaving out what does not matter ends with the plainest case."""
    case = seeded(5)
    assert any(size_of(simpler) < size_of(case) for simpler in simpler_cases(PROFILE, case))
    smallest = reduce_case(
        PROFILE, case, lambda c: any(isinstance(op, Release) for op in c.operations), 4000
    )
    assert smallest.configuration == profiles.MemoryPoolConfiguration(1, 1)
    asked, released = smallest.operations
    assert isinstance(asked, Allocate)
    assert (asked.size_bytes, released) == (1, Release(asked.buffer))
