"""The runner ends and tells apart: what is found out, what survives, what never ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytest.importorskip("cosmic_ray")


@pytest.fixture(scope="module")
def ends() -> dict[str, dict[str, str]]:
    """Return how the mutants of the tiny modules end, by module and mutated line."""
    program = "tests.lab.mutation.tiny_run"
    done = subprocess.run(
        [sys.executable, "-m", program], cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=900
    )
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_what_the_questions_leave_open_survives(ends: dict[str, dict[str, str]]) -> None:
    assert ends["answers"] == {
        "return years >= 19": "raised",
        "return years >= 17": "survived",
        "return years == 18": "survived",
        "return years > 18": "raised",
        "return years < 18": "raised",
        "return years <= 18": "raised",
        "return years != 18": "raised",
        "no return years >= 18": "raised",
    }


@pytest.mark.slow
def test_an_endless_loop_is_ended(ends: dict[str, dict[str, str]]) -> None:
    assert ends["spins"] == {
        "while not not stop:": "timed out",
        "while stop:": "timed out",
        "except CosmicRayTestingException:": "survived",
        "no sum(range(stop))": "survived",
    }


@pytest.mark.slow
def test_a_wait_without_end_is_ended(ends: dict[str, dict[str, str]]) -> None:
    assert ends["waits"] == {
        "for _ in []:": "timed out",
        "no lock.release()": "timed out",
        "no lock.acquire()": "survived",
    }


@pytest.mark.slow
def test_a_process_that_leaves_without_a_word_has_crashed(ends: dict[str, dict[str, str]]) -> None:
    crashed = {line for line, end in ends["leaves"].items() if end == "crashed"}
    assert crashed == {
        "if not number == 1:",
        "if number == 2:",
        "if number > 1:",
        "if number >= 1:",
        "if number != 1:",
    }
