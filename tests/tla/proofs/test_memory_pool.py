"""The pool's bound is proved for every size, and each control is refuted where it should be."""

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_tla.proofs import PROOFS as ALL_PROOFS
from purgatory_tla.proofs.memory_pool import (
    AFTER,
    BEFORE,
    MAX_SINGLE,
    PROOFS,
    REQUEST,
    SIZE,
    THREAD,
    Enough,
    Pool,
    bound,
    conserved,
    non_strict,
    not_far_below_zero,
    release,
    strict,
    take,
)
from purgatory_tla.proofs.obligations import Discharged, Proof, ProofVerdict, discharge, prove

REFUTED = {
    "pool-bound-minus-one-refuted": ["implies the bound"],
    "pool-bound-alone-refuted": ["kept by take"],
    "pool-strict-ignores-size-refuted": ["kept by take"],
    "pool-unchecked-size-refuted": ["kept by take"],
}


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_each_obligation_comes_out_as_it_must(proof: Proof) -> None:
    """Prove all but those of a control that need what was left out."""
    found = prove(proof).discharged
    assert len(found) > 1
    refuted = [each.name for each in found if each.verdict is ProofVerdict.REFUTED]
    proved = [each.name for each in found if each.verdict is ProofVerdict.PROVED]
    assert refuted == REFUTED.get(proof.name, [])
    assert len(refuted) + len(proved) == len(found)
    assert proof.expected is (ProofVerdict.REFUTED if refuted else ProofVerdict.PROVED)


def test_every_proof_is_found_by_its_name() -> None:
    assert {proof.name: proof for proof in PROOFS}.items() <= ALL_PROOFS.items()


def _one(name: str, obligation: str) -> Discharged:
    proof = ALL_PROOFS[name]
    return next(discharge(each) for each in proof.obligations() if each.name == obligation)


def test_one_byte_less_is_refuted_by_the_bound_itself() -> None:
    values = _one("pool-bound-minus-one-refuted", "implies the bound").values
    available, size, most = (int(values[name]) for name in ("available", "size", "max_single"))
    assert size - available == size + most - 1


def _value(formula: z3.BoolRef, values: dict[z3.ExprRef, z3.ExprRef]) -> bool:
    solver = z3.Solver()
    solver.add(*(name == value for name, value in values.items()), formula)
    return bool(solver.check() == z3.sat)


def _array(shares: list[int]) -> z3.ArrayRef:
    array = z3.K(z3.IntSort(), z3.IntVal(0))
    for thread, share in enumerate(shares):
        array = z3.Store(array, thread, share)
    return array


@pytest.mark.parametrize("enough", [non_strict, strict])
@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_the_steps_are_those_of_an_explicit_pool(enough: Enough, data: st.DataObject) -> None:
    """The formulas allow exactly what the pool does, and the sums agree with the claims."""
    size = data.draw(st.integers(1, 6), label="size")
    most = data.draw(st.integers(1, size), label="most")
    held, available = [0, 0, 0], size
    for _ in range(data.draw(st.integers(1, 5), label="steps")):
        thread = data.draw(st.integers(0, 2), label="thread")
        request = data.draw(st.integers(-1, most + 1), label="request")
        before, available_before = list(held), available
        admitted = available >= request if enough is strict else available > 0
        if held[thread]:
            available, held[thread], step = available + held[thread], 0, release()
        elif 1 <= request <= most and admitted:
            available, held[thread], step = available - request, request, take(enough)
        else:
            step = z3.Not(take(enough))
        values = {
            SIZE: z3.IntVal(size),
            MAX_SINGLE: z3.IntVal(most),
            THREAD: z3.IntVal(thread),
            REQUEST: z3.IntVal(request),
            BEFORE.available: z3.IntVal(available_before),
            BEFORE.held: _array(before),
            BEFORE.outstanding: z3.IntVal(sum(before)),
            AFTER.available: z3.IntVal(available),
            AFTER.held: _array(held),
            AFTER.outstanding: z3.IntVal(sum(held)),
        }
        assert _value(z3.And(step, *_claims(BEFORE), *_claims(AFTER)), values)
        one_more = {**values, AFTER.available: z3.IntVal(available + 1)}
        assert not _value(z3.Or(take(enough), release()), one_more)


def _claims(pool: Pool) -> tuple[z3.BoolRef, ...]:
    return conserved(pool), not_far_below_zero(pool), bound(pool)
