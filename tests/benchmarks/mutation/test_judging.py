"""The suite as judge: the original survives in its own place, a wrong module is blamed by rule."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")


@pytest.mark.slow
def test_the_original_survives_and_a_wrong_wheel_is_blamed() -> None:
    """
    Given: the wheel, and one that takes a tick too many for due
    When:  each takes the wheel's place and is judged by the timer's campaigns
    Then:  the first survives, the second is found by a rule about when tasks expire
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.mutation.wheel_run"],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
    )

    assert json.loads(done.stdout) == [["survived", ""], ["a case failed", "TIMER-NOT-EARLY"]]
