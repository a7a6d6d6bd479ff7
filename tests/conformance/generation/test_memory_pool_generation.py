"""Cases that are generated for memory pools: usable, within the declaration, reducible."""

import pytest

from purgatory_conformance.generation.memory_pool.world import sort_of
from purgatory_conformance.running.shrinking import reduce_case, simpler_cases, size_of
from purgatory_conformance.specimens.small.memory_pool import PROFILE
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_judge.components import narrowed
from purgatory_model.memory_pool import MemoryPoolModel
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

pytestmark = pytest.mark.recorded

SUPPORT = support_of(profiles.Component.MEMORY_POOL)
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
        (ReleaseForeign(2**25 + 1),),
        (Elapse(5), Elapse(4)),
    ],
)
def test_unusable_cases_are_told(operations: tuple[Operation, ...]) -> None:
    """Refuse a case made of the operations: no subject can be asked it."""
    assert not SUPPORT.usable(PROFILE, Candidate(profiles.MemoryPoolConfiguration(), operations))


@pytest.mark.parametrize("form", ReleaseForm)
def test_what_came_back_is_released_again_in_any_form_where_that_is_offered(
    form: ReleaseForm,
) -> None:
    """Given a buffer that came back: a subject that offers no second release is not asked it."""
    operations = (Allocate("a", 1), Release("a"), Release("a", form))
    case = Candidate(profiles.MemoryPoolConfiguration(), operations)
    once = profiles.MemoryPoolProfile(
        features=frozenset(profiles.MemoryPoolFeature) - {profiles.MemoryPoolFeature.RELEASE_AGAIN}
    )
    assert [SUPPORT.usable(profile, case) for profile in (PROFILE, once)] == [True, False]


def test_large_buffers_are_asked_for_as_far_as_a_subject_has_memory() -> None:
    """Some are longer than 24 bits say; those beyond 64 KB take 64 MB or less in a case."""
    longest = 0
    for seed in range(300):
        case = seeded(seed)
        model = MemoryPoolModel(
            narrowed(case.configuration, profiles.MemoryPoolConfiguration), PROFILE
        )
        state = model.initial()
        for operation in case.operations:
            _, state = next(iter(model.successors(state, operation)))
        sizes = [*state.held.values(), *state.returned.values()]
        longest = max(longest, *sizes, 0)
        assert sum(size for size in sizes if size > 2**16) <= 2**26
    assert longest > 2**24


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
