"""A run is compared exactly: outcome, what is violated, every count. Each difference is found."""

import sys
from importlib import metadata

import pytest

from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics
from purgatory_tla.errors import MissingTool
from purgatory_tla.manifest.models import Agreement, Settings, compare, run_model

from ..conftest import Toys


def found(outcome: Outcome, violated: str | None = None, depth: int = 7) -> CheckResult:
    return CheckResult(outcome, violated, Statistics(7, 7, depth, 0.5), None, "TLC", "2.15", "")


def test_what_is_as_recorded_has_no_difference(toys: Toys) -> None:
    assert compare(toys.model(toys.claim), found(Outcome.SUCCESS), exactly=True) == []


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"generated": 9}, "expected generated 9, found 7"),
        ({"distinct": 6}, "expected distinct 6, found 7"),
        ({"depth": 8}, "expected depth 8, found 7"),
        ({"expected": "deadlock"}, "expected deadlock, found success"),
        ({"violated": "Unheard"}, "expected Unheard to be violated, found nothing"),
    ],
)
def test_each_difference_is_named(toys: Toys, changes: dict[str, object], difference: str) -> None:
    model = toys.model(toys.claim, **changes)
    assert compare(model, found(Outcome.SUCCESS), exactly=True) == [difference]


def test_another_violation_than_the_recorded_one_is_a_difference(toys: Toys) -> None:
    model = toys.model(toys.must_fail)
    other = compare(model, found(Outcome.INVARIANT, "NeverTwo"), exactly=True)
    assert other == ["expected Bounded to be violated, found NeverTwo"]
    assert len(compare(model, found(Outcome.SUCCESS), exactly=True)) == 2


def test_with_several_workers_only_what_is_certain_is_compared(toys: Toys) -> None:
    complete = toys.model(toys.claim, distinct=6)
    assert compare(complete, found(Outcome.SUCCESS, depth=9), exactly=False) == [
        "expected distinct 6, found 7"
    ]
    broken = toys.model(toys.must_fail, distinct=6)
    assert compare(broken, found(Outcome.INVARIANT, "Bounded"), exactly=False) == []


@pytest.mark.java
@pytest.mark.slow
def test_the_checker_is_run_and_compared(toys: Toys) -> None:
    settings = Settings(toys.folder)
    sound = run_model(toys.model(toys.claim), settings)
    assert (sound.standing, sound.found, sound.differences) == (
        Agreement.AS_EXPECTED,
        "success",
        (),
    )
    miscounted = run_model(toys.model(toys.claim, distinct=8), settings)
    assert (miscounted.standing, miscounted.differences) == (
        Agreement.DIFFERS,
        ("expected distinct 8, found 7",),
    )
    misjudged = run_model(toys.model(toys.must_fail, constants={}), settings)
    assert (misjudged.standing, misjudged.differences[0]) == (
        Agreement.DIFFERS,
        "expected invariant, found success",
    )
    unknown = run_model(toys.model(toys.must_fail, invariants=["Unheard"]), settings)
    assert unknown.standing is Agreement.DIFFERS
    assert "Unheard" in unknown.differences[0]


@pytest.mark.java
@pytest.mark.slow
def test_a_simulation_is_run_and_compared(toys: Toys) -> None:
    simulation: dict[str, object] = {
        "mode": "simulation",
        "simulation": {"behaviours": 20, "length": 12, "seed": 1},
    }
    settings = Settings(toys.folder)
    sound = run_model(toys.model(toys.claim, expected="bounded", **simulation), settings)
    assert (sound.standing, sound.found) == (Agreement.AS_EXPECTED, "bounded")
    broken = run_model(toys.model(toys.must_fail, **simulation), settings)
    assert (broken.standing, broken.found) == (Agreement.AS_EXPECTED, "Bounded violated")
    misjudged = run_model(toys.model(toys.claim, **simulation), settings)
    assert misjudged.differences == ("expected success, found bounded",)


@pytest.mark.java
@pytest.mark.slow
def test_a_run_that_is_ended_is_inconclusive(toys: Toys) -> None:
    endless = toys.model(toys.claim, constants={"Most": "100000000"}, invariants=["Bounded"])
    ended = run_model(endless, Settings(toys.folder, timeout=1))
    assert (ended.standing, ended.found) == (Agreement.INCONCLUSIVE, "no verdict")
    assert "1 s" in ended.differences[0]


def test_a_missing_tool_is_no_finding(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MissingTool, match="install"):
        run_model(toys.model(toys.claim), Settings(toys.folder))


def test_a_missing_prover_is_no_finding(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "purgatory_tla.proofs", None)
    proof = {"name": "law", "title": "A law.", "mode": "proof", "proof": "law"}
    with pytest.raises(MissingTool, match="install"):
        run_model(toys.model(proof), Settings(toys.folder))


def test_a_proof_is_run_by_z3(toys: Toys) -> None:
    from purgatory_tla.proofs import PROOFS

    name = next(name for name, each in PROOFS.items() if each.expected.value == "proved")
    proof = {"name": "law", "title": "A law.", "mode": "proof", "proof": name}
    settings = Settings(toys.folder)
    proved = run_model(toys.model(proof), settings)
    version = metadata.version("z3-solver")
    assert (proved.standing, proved.tool) == (Agreement.AS_EXPECTED, f"z3 {version}")
    misjudged = run_model(toys.model(proof, kind="must-fail", expected="refuted"), settings)
    assert misjudged.standing is Agreement.DIFFERS
    unknown = run_model(toys.model({**proof, "proof": "none"}), settings)
    assert unknown.differences == ("there is no proof 'none'",)
