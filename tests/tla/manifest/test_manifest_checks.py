"""Every fault that a manifest can have is found, and named with its entry."""

import pytest

from ..conftest import Toys
from .manifest_checks import problems


def test_a_sound_manifest_has_no_problem(toys: Toys) -> None:
    assert problems(toys.manifest(toys.claim, toys.must_fail, toys.witness), toys.folder) == ()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"module": "None"}, "there is no module None"),
        ({"configuration": "None.cfg"}, "there is no configuration None.cfg"),
        ({"module": None}, "what is not a proof has 'module' and 'configuration'"),
        ({"mode": "proof"}, "a proof has the field 'proof'"),
        ({"depth": None}, "exact counts"),
        ({"violated": None}, "'violated' names what is broken"),
        ({"violated": "None"}, "Toy does not define None"),
        ({"about": ["Bound"]}, "Toy does not define Bound"),
        ({"about": []}, "'about' must say"),
        ({"invariants": ["Bounded", "NeverTwo"]}, "it must check Bounded alone"),
        ({"invariants": []}, "it must check Bounded alone, and checks nothing"),
        ({"specification": "Sepc"}, "Toy does not define Sepc"),
        ({"expected": "success", "violated": None}, "cannot be expected to succeed"),
        ({"explanation": ""}, "a must-fail explains its counterexample"),
        ({"kind": "claim"}, "a claim holds"),
    ],
)
def test_a_fault_is_named(toys: Toys, changes: dict[str, object], sentence: str) -> None:
    broken = {**toys.must_fail, **changes}
    found = problems(toys.manifest(toys.claim, broken, toys.witness), toys.folder)
    named = [each for each in found if each.startswith("toy-bound-two-threads: ")]
    assert any(sentence in each for each in named), found


def test_a_claim_that_checks_nothing_is_named(toys: Toys) -> None:
    found = problems(toys.manifest({**toys.claim, "invariants": []}), toys.folder)
    assert found == ("toy-bound: nothing is checked",)


@pytest.mark.parametrize(
    ("left_out", "sentence"),
    [("must_fail", "Bounded has no must-fail sibling"), ("witness", "Bounded has no witness")],
)
def test_a_lonely_claim_is_named_unless_there_is_a_reason(
    toys: Toys, left_out: str, sentence: str
) -> None:
    others = {"must_fail": toys.must_fail, "witness": toys.witness}
    del others[left_out]
    found = problems(toys.manifest(toys.claim, *others.values()), toys.folder)
    assert found == (f"toy-bound: {sentence}",)
    excused = {**toys.claim, "lacks": {"Bounded": "There is nothing to be seen."}}
    assert problems(toys.manifest(excused, *others.values()), toys.folder) == ()
