"""Claims about the pool with threads: the true ones hold, the false ones are broken."""

import pytest

from purgatory_model.claims.explorer import explore
from purgatory_model.concurrent.memory_pool import instances
from purgatory_model.concurrent.memory_pool.model import VARIANTS, ConcurrentMemoryPool


@pytest.mark.parametrize("pool", instances.TRUE_CLAIMS, ids=["non-strict", "strict"])
def test_claims_hold_in_every_state(pool: ConcurrentMemoryPool) -> None:
    """None breaks a claim, and a step leaves each of them."""
    found = explore(pool.initial(), pool.steps, instances.breaks(pool, *instances.PROVED))
    assert (found.complete, found.counterexample) == (True, None)
    assert found.states > 500
    assert found.deadlocks == 0


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("below-bound", 6),
        ("refused-while-short", 6),
        ("split-test-and-subtract", 6),
        ("blind-store", 6),
        ("swap-gives-up", 6),
        ("double-release", 5),
        ("foreign-release", 1),
    ],
)
def test_shortest_way_to_break_a_claim(name: str, length: int) -> None:
    """The shortest way has so many steps."""
    pool, claim = {**instances.FALSE_CLAIMS, **instances.FAULTS}[name]
    found = explore(pool.initial(), pool.steps, instances.breaks(pool, claim))
    assert found.counterexample is not None
    assert found.counterexample.broken == instances.CLAIMS[claim][0]
    assert len(found.counterexample.path) == length


def test_each_true_claim_has_a_fault_that_breaks_it() -> None:
    assert {claim for _, claim in instances.FAULTS.values()} == set(instances.PROVED)
    assert set(instances.FAULTS) == set(VARIANTS)
    assert set(instances.PROVED) | {claim for _, claim in instances.FALSE_CLAIMS.values()} == set(
        instances.CLAIMS
    )
