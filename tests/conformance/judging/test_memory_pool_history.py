"""A rule is visited by a step only if its violation would have been seen there."""

import msgspec
import pytest

from purgatory_conformance.judging.memory_pool.judge import MemoryPoolJudge
from purgatory_conformance.specimens.small.memory_pool import PROFILE
from purgatory_conformance.support.memory_pool import MEMORY_POOL_SUPPORT
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.cases import Case, MemoryPoolCaseHeader, Step

SILENT = msgspec.structs.replace(PROFILE, observables=frozenset())
SPELLS = msgspec.structs.replace(
    PROFILE,
    observables=frozenset(
        {profiles.MemoryPoolObservable.DEPLETED_SPELLS, profiles.MemoryPoolObservable.DEPLETED_TIME}
    ),
)
TEN = profiles.MemoryPoolConfiguration(10, 10)


def visits(
    profile: profiles.MemoryPoolProfile,
    *operations: op.Operation,
    configuration: profiles.MemoryPoolConfiguration = TEN,
) -> list[set[str]]:
    """The rules that each step visits, the prefix left out; all goes by the rules."""
    judge = MemoryPoolJudge(configuration, profile)
    visited = []
    for operation in operations:
        outcome, _ = next(iter(judge.model.successors(judge.state, operation)))
        judgement = judge.step(operation, outcome)
        assert judgement.divergence is None
        visited.append({rule.removeprefix("POOL-") for rule in judgement.visited})
    return visited


def test_a_release_is_seen_at_once_where_the_account_is_shown() -> None:
    """The first visits the rule with the release, the second with the request."""
    steps = (op.Allocate("a", 4), op.Release("a"), op.Allocate("b", 1), op.Allocate("c", 10))
    shown, silent = visits(PROFILE, *steps), visits(SILENT, *steps)
    assert ["RELEASE" in step for step in shown] == [False, True, False, False]
    assert ["RELEASE" in step for step in silent] == [False, False, True, False]


def test_admission_is_visited_where_the_numbers_are_close() -> None:
    """Only the latter two put admission to the test, and the last one the bound."""
    pool = profiles.MemoryPoolConfiguration(100, 10)
    steps = [op.Allocate(f"b{number}", 10) for number in range(11)]
    seen = visits(SILENT, *steps, configuration=pool)
    assert ["NON-STRICT" in step for step in seen] == [False] * 9 + [True, True]
    assert ["BOUND" in step for step in seen] == [False] * 10 + [True]


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ((op.Release("a"),), set()),
        ((op.Allocate("b", 1), op.Release("a")), {"SPELL-BEGINS", "SPELL-ENDS"}),
        (
            (op.Allocate("b", 1), op.Elapse(5), op.Release("a")),
            {"SPELL-BEGINS", "SPELL-ENDS", "DEPLETED-TIME"},
        ),
        ((op.Allocate("b", 1), op.Elapse(5)), {"DEPLETED-TIME"}),
        ((op.Allocate("b", 1), op.ReleaseNothing()), {"SPELL-BEGINS", "SPELL-ENDS"}),
        ((op.Allocate("b", 0), op.Release("a")), {"SPELL-BEGINS"}),
    ],
)
def test_dry_spells_are_visited_where_they_end_or_would(
    steps: tuple[op.Operation, ...], last: set[str]
) -> None:
    """The rules of dry spells are visited in the step that shows whether they hold."""
    size = 9 if not last else 10
    visited = visits(SPELLS, op.Allocate("a", size), *steps)[-1]
    spells = {"SPELL-BEGINS", "SPELL-ENDS", "DEPLETED-TIME"}
    assert visited & spells == last


def test_rules_of_numbers_need_something_outstanding() -> None:
    """Only then are conservation, used and size put to the test."""
    numbers = {"CONSERVATION", "USED", "SIZE"}
    idle, taken = visits(PROFILE, op.Elapse(1), op.Allocate("a", 1))
    assert (idle & numbers, taken & numbers) == (set(), numbers)


def test_unbounded_pools_visit_their_own_rules_alone() -> None:
    seen = visits(
        PROFILE,
        op.Allocate("a", 0),
        op.Allocate("b", -1),
        op.Release("a"),
        op.ReleaseForeign(1),
        configuration=profiles.MemoryPoolConfiguration(unbounded=True),
    )
    release = {"UNBOUNDED-RELEASE"}
    assert seen == [{"UNBOUNDED-GRANTS"}, {"UNBOUNDED-NEGATIVE"}, release, release]


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
