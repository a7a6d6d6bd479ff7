"""Reading first and swapping later is proved to be as good as one step; not comparing is not."""

import pytest

from purgatory_tla.proofs.obligations import Proof, ProofVerdict, prove
from purgatory_tla.proofs.swap_loop import PROOFS

STEPS = ("ask", "read enough", "read too little", "swap", "fail to swap", "release")


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_each_obligation_comes_out_as_it_must(proof: Proof) -> None:
    found = prove(proof).discharged
    names = [
        "initially",
        *(name for step in STEPS for name in (f"kept by {step}", f"{step} is atomic or unseen")),
    ]
    assert [each.name for each in found] == names
    refuted = [each.name for each in found if each.verdict is ProofVerdict.REFUTED]
    proved = [each.name for each in found if each.verdict is ProofVerdict.PROVED]
    wrong = ["kept by swap", "swap is atomic or unseen"] if "split" in proof.name else []
    assert refuted == wrong
    assert len(refuted) + len(proved) == len(found)


def test_a_control_is_there() -> None:
    assert {proof.expected for proof in PROOFS} == {ProofVerdict.PROVED, ProofVerdict.REFUTED}
