"""A proof is believed only where nothing else than a proof can have produced it."""

import pytest
import z3

from purgatory_tla.proofs.obligations import (
    Discharged,
    Obligation,
    Proof,
    ProofResult,
    ProofVerdict,
    discharge,
    prove,
)

X, Y = z3.Ints("x y")
TRUE = Obligation("squares", X > 1, X * X > X)
FALSE = Obligation("no number is large", X > 1, X < 10)
VACUOUS = Obligation("nothing is both", z3.And(X > 1, X < 1), X == 7)


def test_an_implication_without_a_counterexample_is_proved() -> None:
    found = discharge(TRUE)
    assert (found.name, found.verdict, found.values) == ("squares", ProofVerdict.PROVED, {})
    assert found.seconds >= 0


def test_a_refuted_one_comes_with_its_counterexample() -> None:
    found = discharge(FALSE)
    assert found.verdict is ProofVerdict.REFUTED
    assert int(found.values["x"]) >= 10


def test_a_contradiction_proves_nothing() -> None:
    assert discharge(VACUOUS).verdict is ProofVerdict.VACUOUS


def test_what_z3_cannot_decide_is_not_proved() -> None:
    a, b, c = z3.Ints("a b c")
    positive = z3.And(a > 2, b > 2, c > 2)
    hard = Obligation("fermat", positive, a * a * a + b * b * b != c * c * c)
    assert discharge(hard, seconds=0.2).verdict is ProofVerdict.UNDECIDED


@pytest.mark.parametrize(
    ("obligations", "verdict"),
    [
        ((), ProofVerdict.VACUOUS),
        ((TRUE,), ProofVerdict.PROVED),
        ((TRUE, FALSE), ProofVerdict.REFUTED),
        ((FALSE, VACUOUS), ProofVerdict.VACUOUS),
    ],
)
def test_a_proof_is_as_good_as_its_weakest_part(
    obligations: tuple[Obligation, ...], verdict: ProofVerdict
) -> None:
    result = prove(Proof("some", "Some.", lambda: obligations))
    assert result.verdict is verdict
    assert [each.name for each in result.discharged] == [each.name for each in obligations]


def test_an_undecided_part_hides_a_refuted_one() -> None:
    parts = (
        Discharged("one", ProofVerdict.REFUTED, {"x": "1"}, 0.0),
        Discharged("two", ProofVerdict.UNDECIDED, {}, 0.0),
    )
    control = Proof("some", "Some.", lambda: (), ProofVerdict.REFUTED)
    assert ProofResult(control, parts).verdict is ProofVerdict.UNDECIDED
