"""The suite as judge: each trial lets the original be, and blames a wrong module by its rule."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")


@pytest.mark.slow
def test_the_original_survives_and_a_wrong_module_is_blamed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab.mutation.suite_run"],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        check=True,
        timeout=1800,
    )

    survives = ["survived", "", True]
    assert json.loads(done.stdout) == [
        [survives, ["a case failed", "TIMER-NOT-EARLY", True]],
        [survives, ["a case failed", "PURGATORY-ESTIMATE-EXACT", True]],
        [survives, ["a case failed", "PURGATORY-ESTIMATE-PROPOSAL", True]],
        [survives, ["a case failed", "PURGATORY-CANCEL-RESULT", True]],
        [survives, ["a case failed", "PURGATORY-CHECK-DROPS", True]],
        [survives, ["raised", "AssertionError", True]],
        [survives, ["raised", "AssertionError", True]],
        [survives, ["a case failed", "POOL-USED", True]],
    ]
