"""Tests that begin too late in CI are skipped and counted, and no others are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

VERIFIED = "tests/packaging"
"""A folder all of whose tests are of `make verify`."""


def summary(until: str) -> str:
    """Return the output of a run whose tests may begin until then, and have no bodies."""
    environment = {**os.environ, "VERIFY_BEGINS_UNTIL": until}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    command += ["-m", "verify", "--setup-plan"]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [*command, VERIFIED], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_tests_that_begin_too_late_are_counted() -> None:
    told = summary("1")
    found = re.search(r"^not begun: (\d+) tests, the first of them tests/packaging/", told, re.M)
    assert found is not None, told
    assert int(found[1]) > 10
    assert "SETUP" not in told


@pytest.mark.slow
def test_without_a_limit_none_is_too_late() -> None:
    told = summary("inf")
    assert "not begun" not in told
    assert "SETUP" in told
