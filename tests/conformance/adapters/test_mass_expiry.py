"""The mass expiry with nothing replaced: the program behind the statistical run."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from purgatory_conformance.subjects.kafka import mass_expiry_command
from purgatory_lab.benchmarks.mass_expiry import fluss_command, kafkas_command

from .adapter_process import WORK_FOLDER, need_java_and_maven

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]


def rounds_of(system: str, operations: int, rounds: int = 1) -> list[dict[str, int]]:
    need_java_and_maven()
    if system == "fluss":
        command = fluss_command(rounds, operations, WORK_FOLDER)
    else:
        command = kafkas_command("4.4.0", rounds, operations, WORK_FOLDER)
    finished = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=900, check=True
    )
    return [json.loads(line) for line in finished.stdout.splitlines()]


@pytest.mark.parametrize("system", ["kafka", "fluss"])
def test_what_fits_into_the_interval_is_counted_and_stays(system: str) -> None:
    """All stay and all are counted, so that nothing is wrong yet."""
    assert rounds_of(system, 500) == [
        {"round": 1, "entries": 500, "timer_size": 0, "estimate": 500, "purge_interval": 1000}
    ]


@pytest.mark.parametrize("system", ["kafka", "fluss"])
def test_of_many_any_number_may_stay(system: str) -> None:
    """None waits any more, and the estimate never says more than a purge has left."""
    for found in rounds_of(system, 5000, rounds=2):
        assert found["timer_size"] == 0
        assert 0 <= found["entries"] <= 5000
        assert found["estimate"] <= 1000


def test_the_virtual_clock_is_not_taken() -> None:
    need_java_and_maven()
    command = list(mass_expiry_command(rounds=1, operations=1, work_folder=WORK_FOLDER))
    position = command.index("-cp") + 1
    classes = Path(command[position].split(os.pathsep)[0])
    command[position] = f"{classes.parent / 'shadow'}{os.pathsep}{command[position]}"
    finished = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert finished.returncode == 1
    assert "leave the folder of the shadowing class out" in finished.stderr
