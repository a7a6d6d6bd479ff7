"""Mechanical changes of claims: most are noticed by a model, and the others are listed."""

from pathlib import Path

import pytest

from .weakenings import NoClaim, changes_of, noticing_model, weakenings

UNNOTICED: dict[str, dict[str, str]] = {
    "MemoryPool": {
        "RejectedMeansIllegal: '/\\\\ pc[t] = \"reject\" => ~Legal(request[t])' is '/\\\\ TRUE'": (
            "no defect rejects a legal size"
        ),
    },
    "OperationLock": {
        "NoLostCompletion: '/\\\\ changes >= Goal' is ''": (
            "stronger, and true where all changes are made, as in every instance"
        ),
    },
}
"""For each module the changes that no model notices, with the reason."""

LEAST_NOTICED = 0.9


def test_every_kind_of_change_is_made() -> None:
    body = " \\A t \\in Threads :\n    /\\ held[t] <= 2\n    /\\ (a /\\ b[t]) => SF_vars(A)\n"
    made = {body[: each.start] + each.instead + body[each.end :] for each in changes_of(body)}
    assert made == {
        body.replace("2", "3"),
        body.replace("2", "1"),
        body.replace("<=", "<"),
        body.replace("/\\ held[t] <= 2", "/\\ TRUE"),
        body.replace("/\\ (a /\\ b[t]) => SF_vars(A)", "/\\ TRUE"),
        body.replace(" /\\ b[t]", ""),
        body.replace("SF_", "WF_"),
    }


def test_a_claim_without_its_must_fail_would_be_listed(tmp_path: Path) -> None:
    """Take the bound, for which one byte more goes unnoticed without the smallest pool."""
    bound = [each for each in weakenings("MemoryPool") if each.claim == "Bound"]
    assert {str(each) for each in bound} == {
        "Bound: '1' is '2'",
        "Bound: '1' is '0'",
        "Bound: '<=' is '<'",
    }


@pytest.mark.java
@pytest.mark.large
@pytest.mark.parametrize("module", UNNOTICED)
def test_changes_of_claims_are_noticed(module: str, tmp_path: Path) -> None:
    unnoticed: set[str] = set()
    made = 0
    for number, each in enumerate(weakenings(module)):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            noticed = noticing_model(each, folder)
        except NoClaim:
            continue
        made += 1
        if noticed is None:
            unnoticed.add(str(each))
    assert unnoticed == UNNOTICED[module].keys()
    assert len(unnoticed) <= (1 - LEAST_NOTICED) * made
