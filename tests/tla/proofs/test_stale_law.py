"""The law of the exact accounting: proved for every size, and walked on explicit sums."""

import re
from dataclasses import fields, replace
from typing import TypeVar

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_tla.modules.literate import read_literate
from purgatory_tla.proofs.exact_accounting import ACTIONS, Operation, Totals
from purgatory_tla.proofs.obligations import Proof, ProofVerdict, prove
from purgatory_tla.proofs.stale_law import PROOFS, contribution, invariant, law
from purgatory_tla.resources import modules_folder

Numbers = TypeVar("Numbers", Operation, Totals)

FRESH_OPERATION = Operation(z3.BoolVal(False), *(z3.IntVal(0) for _ in fields(Operation)[1:]))
FRESH_TOTALS = Totals(*(z3.IntVal(0) for _ in fields(Totals)))


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_each_proof_comes_out_as_its_author_says(proof: Proof) -> None:
    result = prove(proof)

    assert result.verdict is proof.expected, [
        (each.name, each.verdict) for each in result.discharged
    ]


def test_every_step_has_its_obligation() -> None:
    law_proof = next(proof for proof in PROOFS if proof.name == "stale-law")

    names = [obligation.name for obligation in law_proof.obligations()]

    assert names == ["true at the start", *(f"kept by: {name}" for name in ACTIONS)]


def test_the_steps_are_those_of_the_tla_module() -> None:
    module = read_literate(modules_folder() / "ExactAccounting.tla")
    next_step = module.definition("Next").source
    called = {each.name for each in module.definitions if re.search(rf"\b{each.name}\b", next_step)}

    assert called - {"Next"} == set(ACTIONS)


def test_every_proof_has_a_control_that_is_refuted() -> None:
    assert {proof.expected for proof in PROOFS} == {ProofVerdict.PROVED, ProofVerdict.REFUTED}


def settled(values: Numbers) -> Numbers:
    return replace(values, **{f.name: z3.simplify(getattr(values, f.name)) for f in fields(values)})


def is_true(formula: z3.BoolRef) -> bool:
    return bool(z3.is_true(z3.simplify(formula)))


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(ACTIONS)), st.integers(0, 2), st.integers(1, 2)),
        max_size=40,
    )
)
def test_the_law_holds_for_the_explicit_sum_over_several_operations(
    walk: list[tuple[str, int, int]],
) -> None:
    """The proof looks at one operation and a ghost sum; here the sum is computed anew each time."""
    operations = [FRESH_OPERATION] * 3
    totals = FRESH_TOTALS
    for name, index, n in walk:
        step = ACTIONS[name](operations[index], totals, z3.IntVal(n))
        if not is_true(step.guard):
            continue
        operations[index] = settled(step.operation)
        total = z3.Sum([contribution(operation) for operation in operations])
        totals = settled(replace(step.totals, stale_entries=total))
        assert is_true(law(totals)), name
        for operation in operations:
            assert is_true(invariant(operation, totals)), name


def test_a_walk_reaches_a_stale_entry() -> None:
    """Reach one, else the walk above might never complete a watched operation."""
    operation, totals = FRESH_OPERATION, FRESH_TOTALS
    for name in ("Arm", "Insert", "Win", "Post"):
        step = ACTIONS[name](operation, totals, z3.IntVal(1))
        assert is_true(step.guard), name
        operation = settled(step.operation)
        totals = settled(replace(step.totals, stale_entries=contribution(operation)))

    assert is_true(z3.And(totals.stale == 1, totals.stale_entries == 1))
