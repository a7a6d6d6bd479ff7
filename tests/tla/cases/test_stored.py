"""The vectors and replay files that are TLC's, made again."""

from functools import cache
from pathlib import Path

import pytest

from purgatory_conformance.resources import adapters_folder
from purgatory_judge.registry import judged
from purgatory_spec.cases import encode_case, read_case
from purgatory_spec.resources import specification_folder
from purgatory_tla.cases.stored import DEVIATIONS, STORED, Stored, made_again
from purgatory_tla.checkers.tools import wheel_jar
from purgatory_tla.errors import InvalidSpecification
from purgatory_tla.manifest.manifest import Model, read_manifest
from purgatory_tla.manifest.models import Settings
from purgatory_tla.resources import modules_folder

IN_EVERY_RUN = ("tlc-mass-expiry", "tlc-mass-expiry-passed-over")


@cache
def models() -> dict[str, Model]:
    return {model.name: model for model in read_manifest().models}


def path_of(stored: Stored) -> Path:
    if stored.folder == DEVIATIONS:
        return adapters_folder() / "kafka" / "deviations" / f"{stored.name}.jsonl"
    return specification_folder() / "vectors" / stored.path


def files() -> list[object]:
    """Every file; those that are not in every run are large."""
    return [
        pytest.param(each, id=each.name, marks=[] if each.name in IN_EVERY_RUN else large)
        for each in STORED
    ]


large = pytest.mark.large


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("stored", files())
def test_a_file_is_what_tlc_answers(stored: Stored) -> None:
    case = made_again(stored, models(), Settings(modules_folder(), jar=wheel_jar()))
    assert path_of(stored).read_bytes() == encode_case(case).encode("utf-8")


def test_every_file_of_tlc_is_known() -> None:
    folders = [specification_folder() / "vectors", adapters_folder() / "kafka" / "deviations"]
    found = {path for folder in folders for path in folder.rglob("tlc-*.jsonl")}
    assert found == {path_of(stored) for stored in STORED}
    for stored in STORED:
        case = read_case(path_of(stored))
        assert case.header.case == stored.name
        assert f" of {stored.model} (" in case.header.origin
        assert case.header.rules == stored.rules


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored.name)
def test_the_rules_allow_what_a_vector_predicts_and_a_replay_file_breaks_one(
    stored: Stored,
) -> None:
    case = read_case(path_of(stored))
    judge = judged(case.component).judge(case.header.configuration, case.header.profile, ())
    visited: set[str] = set()
    diverging = None
    for step in case.steps:
        assert diverging is None
        assert step.outcome is not None
        judgement = judge.step(step.operation, step.outcome)
        visited |= set(judgement.visited)
        diverging = judgement.divergence
    assert (diverging.rule if diverging else "") == stored.breaks
    assert set(stored.rules) <= visited | {stored.breaks}


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("pool-loses-failed-buffers", "not drivable at step 4"),
        ("pool-unchecked-size-goes-on", "belong to calls without an end"),
        ("pool-strict", "is a claim that holds"),
        ("no-such-model", "there is no model no-such-model"),
    ],
)
def test_what_cannot_be_stored_is_refused(model: str, words: str) -> None:
    with pytest.raises(InvalidSpecification, match=words):
        made_again(Stored("memory-pool", "tlc-x", model, ()), models(), Settings(modules_folder()))
