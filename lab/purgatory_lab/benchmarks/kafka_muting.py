"""Released Kafka's channels that wait for memory: expected, seen, controls.

    python -m purgatory_lab.benchmarks.kafka_muting
    python -m purgatory_lab.benchmarks.kafka_muting tls-standstill --release 3.9.1
    python -m purgatory_lab.benchmarks.kafka_muting re-authentication --whole-broker

Nothing of Kafka's is replaced. Without ``--whole-broker`` a scenario drives the released selector
and memory pool over loopback sockets, one poll at a time; with it, clients load a broker that runs
for the scenario, in processes and a temporary folder of its own. The exit code is 0 where every
scenario asked for shows the behaviour that it is named after.
"""

import subprocess
import sys
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.subjects.building import BuildFailed, MissingTool
from purgatory_conformance.subjects.kafka import (
    broker_findings_command,
    muting_findings_command,
)

SCENARIOS = (
    "tls-standstill",
    "fixed-order",
    "re-authentication",
    "waiting-is-idle",
    "release-wakes-nobody",
    "depleted-percent",
)
"""The scenarios of a selector and a pool."""

BROKER_SCENARIOS = ("tls-standstill", "re-authentication", "combined-gauge")
"""The scenarios of a whole broker."""

SCENARIO_SECONDS = {False: 60.0, True: 500.0}
"""The longest time that a scenario may take, on a selector and on a whole broker."""


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option("--whole-broker", is_flag=True, help="On a broker; minutes instead of seconds.")
@click.option("--release", default="4.4.0", show_default=True, help="Release of Apache Kafka.")
@WORK
def main(scenarios: tuple[str, ...], whole_broker: bool, release: str, work: Path) -> None:
    """Run the scenarios, all if none is named, and end with their exit code."""
    known = BROKER_SCENARIOS if whole_broker else SCENARIOS
    for name in scenarios:
        if name not in known:
            raise click.UsageError(f"{name!r} is no scenario; there are: {', '.join(known)}")
    chosen = scenarios or known
    command_of = broker_findings_command if whole_broker else muting_findings_command
    try:
        command = command_of(version=release, scenarios=chosen, work_folder=work)
    except (BuildFailed, MissingTool, ValueError) as error:
        raise click.ClickException(str(error)) from error
    seconds = len(chosen) * SCENARIO_SECONDS[whole_broker]
    try:
        sys.exit(subprocess.run(command, timeout=seconds, check=False).returncode)
    except subprocess.TimeoutExpired as expired:
        raise click.ClickException(f"not done after {expired.timeout:.0f} s") from expired


if __name__ == "__main__":
    main()
