"""Timer, purgatory and memory pools under many threads."""

import pytest

from purgatory_lab.stress.stress_run import COMPONENTS, StressRun, stress

pytestmark = pytest.mark.verify

ROUNDS = {"purgatory": 12, "timer": 9, "memory_pool": 12}
TIMES = 20
"""The factor of rounds of the long form, each seed for itself."""


def check(run: StressRun, rounds: int) -> None:
    """All rounds were run, all that they try has happened, and nothing is wrong."""
    assert not run.findings, f"\n{run}"
    assert run.rounds == rounds
    assert min(run.counts.values()) > 0, f"something has never happened\n{run}"


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_nothing_is_wrong_when_all_is_quiet(component: str) -> None:
    check(stress(component, seed=0, rounds=ROUNDS[component]), ROUNDS[component])


@pytest.mark.large
@pytest.mark.parametrize("seed", [10_000, 20_000, 30_000])
@pytest.mark.parametrize("component", COMPONENTS)
def test_nothing_is_wrong_after_many_rounds(component: str, seed: int) -> None:
    rounds = TIMES * ROUNDS[component]
    check(stress(component, seed, rounds), rounds)
