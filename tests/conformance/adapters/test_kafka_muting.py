"""Channels of released Kafka that wait for memory: the programs behind the findings."""

import os
import subprocess
from pathlib import Path

import pytest

from purgatory_conformance.subjects.kafka import broker_findings_command, muting_findings_command
from purgatory_lab.benchmarks.kafka_muting import BROKER_SCENARIOS, SCENARIO_SECONDS, SCENARIOS

from .adapter_process import WORK_FOLDER, need_java_and_maven
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java]


def run(command: tuple[str, ...], seconds: float) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=seconds, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("release", releases("4.4.0", "3.9.1", "2.8.2", "2.4.1"))
def test_every_scenario_is_reproduced(release: str) -> None:
    need_java_and_maven()
    finished = run(muting_findings_command(version=release, work_folder=WORK_FOLDER), 120)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    lines = finished.stdout.splitlines()
    assert [line for line in lines if line.endswith(f"Apache Kafka {release}")] == [
        f"{name}: Apache Kafka {release}" for name in SCENARIOS
    ]
    assert lines.count("  verdict: reproduced") == len(SCENARIOS)


def test_an_unknown_scenario_is_refused() -> None:
    """Given the same program: it names those that there are, in the order of the command line."""
    need_java_and_maven()
    command = muting_findings_command(scenarios=("nothing",), work_folder=WORK_FOLDER)
    finished = run(command, 20)
    assert finished.returncode == 1
    assert f"nothing is no scenario; there are [{', '.join(SCENARIOS)}]" in finished.stderr


def test_the_virtual_clock_is_not_taken() -> None:
    need_java_and_maven()
    command = list(muting_findings_command(work_folder=WORK_FOLDER))
    position = command.index("-cp") + 1
    classes = Path(command[position].split(os.pathsep)[0])
    command[position] = f"{classes.parent / 'shadow'}{os.pathsep}{command[position]}"
    finished = run(tuple(command), 20)
    assert finished.returncode == 1
    assert "leave the folder of the shadowing class out" in finished.stderr


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("scenario", BROKER_SCENARIOS)
def test_a_whole_broker_does_the_same(scenario: str) -> None:
    """Its gauges and its clients show the behaviour, and the controls do not."""
    need_java_and_maven()
    command = broker_findings_command(scenarios=(scenario,), work_folder=WORK_FOLDER)
    finished = run(command, SCENARIO_SECONDS[True])
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.endswith("  verdict: reproduced\n")
