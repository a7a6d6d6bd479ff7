"""The induction of the module: by TLC for small pools, by Apalache for pools of every size."""

import pytest

from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.inductive import induction
from purgatory_tla.resources import modules_folder

from ..conftest import needs_apalache

MODULE = modules_folder() / "MemoryPoolInductive.tla"
SMALL = modules_folder() / "models" / "MemoryPoolInductive.cfg"

CASES = [
    ("Invariant", "Next", "Bound", None),
    ("InvariantStrict", "NextStrict", "StrictBound", None),
    ("Invariant", "Next", "BoundMinusOne", "implication"),
    ("Invariant", "NextUntested", "Bound", "step"),
    ("InvariantStrict", "Next", "StrictBound", "step"),
    ("BoundAlone", "Next", "Bound", "step"),
]
"""Invariant, steps, what it implies, and which part of the induction fails."""


# One that holds and one that fails: the manifest has the others.
@pytest.mark.verify
@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(("invariant", "steps", "claim", "failed"), [CASES[0], CASES[4]])
def test_the_induction_for_small_pools(
    invariant: str, steps: str, claim: str, failed: str | None
) -> None:
    result = induction(MODULE, SMALL, inductive_invariant=invariant, next=steps, implies=claim)
    assert (result.holds, result.failed) == (failed is None, failed)


@needs_apalache
@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(("invariant", "steps", "claim", "failed"), CASES)
def test_the_induction_for_pools_of_every_size(
    invariant: str, steps: str, claim: str, failed: str | None
) -> None:
    result = induction(
        MODULE,
        Configuration(),
        inductive_invariant=invariant,
        next=steps,
        implies=claim,
        backend="apalache",
    )
    assert (result.holds, result.failed) == (failed is None, failed)
