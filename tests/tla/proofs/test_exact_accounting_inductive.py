"""Apalache's induction of the exact accounting: two operations, counts of any size."""

from pathlib import Path

import pytest

from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.inductive import induction

from ..comparing.seeded_changes import SeededChange, copied_modules, plant
from ..conftest import needs_apalache

# A sum up to the constant Most would bound the counts.
UNBOUNDED = SeededChange(
    name="sums of two operations",
    binding="",
    file="ExactAccounting.tla",
    line=("Sum(count) == Cardinality({<<o, i>> \\in Operations \\X (1..Most) : i <= count[o]})"),
    instead="Sum(count) == count[1] + count[2]",
    action="",
)

CASES = [
    ("Invariant", "NextWithAmounts", None),
    ("LawAlone", "NextWithAmounts", "step"),
    ("Invariant", "NextLeavesLive", "step"),
]
"""Invariant, steps, and the part of the induction that fails."""


@needs_apalache
@pytest.mark.java
@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize(("invariant", "steps", "failed"), CASES)
def test_the_induction_of_two_operations(
    invariant: str, steps: str, failed: str | None, tmp_path: Path
) -> None:
    folder = copied_modules(tmp_path)
    plant(UNBOUNDED, folder / UNBOUNDED.file)
    result = induction(
        folder / "ExactAccountingInductive.tla",
        Configuration(constants={"Operations": "{1, 2}", "Most": "1"}),
        inductive_invariant=invariant,
        next=steps,
        implies="Law",
        backend="apalache",
    )
    assert (result.holds, result.failed) == (failed is None, failed)
