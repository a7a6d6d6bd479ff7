"""The commands ``purgatory tla simulate`` and ``purgatory tla replay``, as a person uses them."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_USAGE, Problem
from purgatory_spec.cases import read_case
from purgatory_tla.cases import stored
from purgatory_tla.cases.stored import STORED
from purgatory_tla.commands.commands import tla


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(tla, words)


@pytest.mark.java
@pytest.mark.slow
def test_a_counterexample_is_told_step_by_step(tmp_path: Path) -> None:
    result = run(
        "replay",
        "proposal-mass-expiry-passed-over",
        *("--subject", "bundled-proposal", "--store", str(tmp_path)),
    )
    assert result.exit_code == 0, result.output
    assert "advance to 2  ->  1 expired, 2 expired" in result.output
    assert "TLA+ steps 15 to 21" in result.output
    assert "31 steps of TLA+, 31 as predicted" in result.output
    assert "What was seen diverges from PURGATORY-STALE-OPERATIONS." in result.output
    case = read_case(tmp_path / "proposal-mass-expiry-passed-over.jsonl")
    assert len(case.steps) == 6
    assert case.header.origin.startswith("TLC's counterexample of proposal-mass-expiry-passed-over")


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.large
def test_a_subject_without_the_defect_differs() -> None:
    result = run("replay", "proposal-mass-expiry-passed-over", "--subject", "bundled")
    assert result.exit_code == 1, result.output
    assert "differs from TLA+: estimate" in result.output
    assert "predicted: 0" in result.output
    assert "seen: 2" in result.output
    assert "The rules allow what was seen." in result.output
    assert "31 steps of TLA+, 14 as predicted" in result.output


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.large
def test_a_race_is_not_drivable() -> None:
    result = run("replay", "proposal-lost-count")
    assert result.exit_code == EXIT_INCONCLUSIVE, result.output
    assert "Not drivable at step 8: the calls interleave here" in result.output
    assert "With one call at a time there is no counterexample." in result.output


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        ("wheel-emptied-leaves-fails", "emptied-bucket-leaves"),
        pytest.param("wheel-own-clock-follows-fails", "follows-clock", marks=pytest.mark.large),
        pytest.param("wheel-due-by-the-clock-fails", "due-by-the-clock", marks=pytest.mark.large),
        pytest.param(
            "wheel-upper-expires-whole-is-early", "expires-with-its-bucket", marks=pytest.mark.large
        ),
        pytest.param(
            "pool-strict-ignores-size", "pool-strict-ignores-size", marks=pytest.mark.large
        ),
        pytest.param("pool-admits-at-zero", "pool-admits-at-zero", marks=pytest.mark.large),
        pytest.param("exact-no-second-try", "no-second-try", marks=pytest.mark.large),
    ],
)
def test_a_wrong_implementation_does_what_its_defect_does_in_tla(model: str, wrong: str) -> None:
    assert run("replay", model).exit_code == 1
    result = run("replay", model, "--subject", f"mutant:{wrong}")
    assert result.exit_code == 0, result.output


@pytest.mark.java
@pytest.mark.slow
def test_a_simulation_counts_what_was_driven(tmp_path: Path) -> None:
    words = ("memory-pool-strict", "--traces", "3", "--depth", "20", "--store", str(tmp_path))
    result = run("simulate", *words)
    assert result.exit_code == 0, result.output
    assert "3 behaviours of MemoryPool, 60 steps;" in result.output
    stored = sorted(path.name for path in tmp_path.iterdir())
    assert stored == [f"memory-pool-strict-seed-1-behaviour-{n}.jsonl" for n in (1, 2, 3)]


@pytest.mark.java
@pytest.mark.slow
def test_a_simulation_of_a_wrong_implementation_tells_the_difference() -> None:
    words = ("wheel-zero-delays", "--traces", "5", "--subject", "mutant:one-tick-late")
    result = run("simulate", *words)
    assert result.exit_code == 1, result.output
    assert "differs from TLA+" in result.output
    assert "What was seen diverges from TIMER-" in result.output


@pytest.mark.java
@pytest.mark.slow
def test_vectors_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = [each for each in STORED if each.name in ("tlc-zero-delay-waits", "tlc-bound-is-tight")]
    monkeypatch.setattr(stored, "STORED", two)
    result = run("vectors", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "TLC's counterexample of pool-bound-minus-one (MemoryPool)" in result.output
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jsonl")}
    assert made == {"timer/tlc-zero-delay-waits.jsonl", "memory-pool/tlc-bound-is-tight.jsonl"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("replay", "proposal-lost-cuont"), "did you mean proposal-lost-count"),
        (("replay", "pool-strict"), "it has no counterexample"),
        (("replay", "exact-proof-law-alone"), "cases are made of"),
        (("simulate", "timing-whel"), "did you mean timing-wheel"),
        (("simulate", "exact-proof-law"), "cases are made of"),
        (("simulate", "xyz"), "there are: timer, timer-shutdown"),
    ],
)
def test_what_cannot_be_replayed_is_a_usage_error(words: tuple[str, ...], told: str) -> None:
    result = run(*words)
    assert isinstance(result.exception, Problem), result.output
    assert result.exception.exit_code == EXIT_USAGE
    assert told in str(result.exception)
