"""Mechanical changes of claims: nearly all are noticed by a model, and the others are listed."""

from collections import Counter

import msgspec
import pytest

from purgatory_tla.manifest.manifest import Expected, Model

from .noticing import (
    Verdict,
    WrongControl,
    broken_by,
    by_module,
    changes_at_once,
    expects_violation,
    out_of_date,
    read_reasons,
    read_record,
)
from .weakenings import changes_of, exhaustive_models, weakenings

LEAST_NOTICED = 0.9
SMALL = 6_000
"""So many states a model may generate that is asked again."""
RECORD = by_module(read_record())
REASONS = read_reasons()


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


def test_the_changes_of_a_claim_are_told() -> None:
    bound = [each for each in weakenings("MemoryPool") if each.claim == "Bound"]
    assert {str(each) for each in bound} == {
        "Bound: '1' is '2'",
        "Bound: '1' is '0'",
        "Bound: '<=' is '<'",
    }


def test_the_record_has_every_change_of_every_claim() -> None:
    assert list(out_of_date(RECORD)) == [], "python -m tests.tla.manifest.noticing judges them"


def test_a_claim_that_was_edited_is_out_of_date() -> None:
    module, judged = next(iter(RECORD.items()))
    assert module in list(out_of_date({**RECORD, module: judged[1:]}))


def test_nearly_all_changes_are_noticed_and_the_others_are_listed() -> None:
    judged = [each for group in RECORD.values() for each in group]
    unnoticed = {(each.module, str(each)) for each in judged if each.verdict is Verdict.UNNOTICED}
    assert unnoticed == {(each.module, f"{each.claim}: {each.change}") for each in REASONS}
    noticed = Counter(each.verdict for each in judged)[Verdict.NOTICED]
    assert noticed >= LEAST_NOTICED * (noticed + sum(each.weaker for each in REASONS))


def _busiest(module: str) -> Model:
    """Return the model that notices the most changes, a small one if there is any."""
    counts = Counter(each.model for each in RECORD[module])
    models = [each for each in exhaustive_models(module) if counts[each.name]]
    return max(models, key=lambda each: ((each.generated or 0) <= SMALL, counts[each.name]))


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize("module", RECORD)
def test_a_model_notices_what_the_record_says(module: str) -> None:
    model = _busiest(module)
    recorded = {str(each) for each in RECORD[module] if each.model == model.name}
    changes = [each for each in changes_at_once(module) if str(each) in recorded]
    broken = broken_by(module, model, changes)
    assert {each for each in changes if (each in broken) != expects_violation(model)} == {*changes}


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.verify
def test_a_claim_with_another_verdict_than_expected_stops_the_judging() -> None:
    model = next(each for each in exhaustive_models("MemoryPool") if each.violated == "Bound")
    changes = [each for each in weakenings("MemoryPool") if each.claim == "Bound"]
    with pytest.raises(WrongControl, match="Bound"):
        broken_by("MemoryPool", msgspec.structs.replace(model, expected=Expected.SUCCESS), changes)
