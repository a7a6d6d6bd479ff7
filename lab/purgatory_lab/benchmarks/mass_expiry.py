"""Stale entries that Kafka's or Fluss's purgatory keeps after many operations expired together.

    python -m purgatory_lab.benchmarks.mass_expiry
    python -m purgatory_lab.benchmarks.mass_expiry --release 4.0.0 --rounds 3
    python -m purgatory_lab.benchmarks.mass_expiry --system fluss

Nothing is replaced: the released jars, the real clock, their own threads and default settings.
Each round has a purgatory of its own; what stays is read when nothing changes any more. The sizes
differ from run to run: they depend on how far the executor has come when the reaper looks.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.opening import adapter_command
from purgatory_conformance.subjects.kafka import MASS_EXPIRY_CLASS, mass_expiry_command
from purgatory_lab.documents import number, table

ROUND_SECONDS = 60.0
"""A round takes 3 seconds or so; one that takes this long will not end."""


@dataclass(frozen=True)
class Round:
    """The rest of a round when all is quiet: without waiting operations every entry is stale."""

    round: int
    entries: int
    timer_size: int
    estimate: int
    purge_interval: int

    @property
    def exceeds(self) -> bool:
        """Decide whether more operations are kept than the purge interval allows."""
        return self.entries > self.purge_interval


def kafkas_command(release: str, rounds: int, operations: int, work: Path) -> tuple[str, ...]:
    """Return the program that lets operations expire in Kafka's purgatory."""
    return mass_expiry_command(
        version=release, rounds=rounds, operations=operations, work_folder=work
    )


def fluss_command(rounds: int, operations: int, work: Path) -> tuple[str, ...]:
    """Return the program for Fluss: the words that start its adapter, with another class."""
    adapter, _ = adapter_command("fluss", work_folder=work)
    return (*adapter[:-1], MASS_EXPIRY_CLASS, str(rounds), str(operations))


def measure(command: tuple[str, ...], rounds: int) -> list[Round]:
    """Run all rounds; an operation is watched under a single key, so that it has a single entry.

    Raises:
        click.ClickException: the program failed or did not end.
    """
    try:
        finished = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            timeout=ROUND_SECONDS * rounds,
            check=True,
        )
    except subprocess.TimeoutExpired as expired:
        raise click.ClickException(f"not done after {expired.timeout:.0f} s") from expired
    except subprocess.CalledProcessError as failed:
        raise click.ClickException(f"the program failed:\n{failed.stderr}") from failed
    return [Round(**json.loads(line)) for line in finished.stdout.splitlines()]


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.option("--system", default="kafka", type=click.Choice(["kafka", "fluss"]))
@click.option("--release", default="4.4.0", show_default=True, help="Release of Apache Kafka.")
@click.option("--rounds", default=8, show_default=True, type=click.IntRange(min=1))
@click.option("--operations", default=20_000, show_default=True, type=click.IntRange(min=1))
@WORK
def main(system: str, release: str, rounds: int, operations: int, work: Path) -> None:
    """Print the table, and in how many rounds the interval was exceeded."""
    if system == "fluss":
        command, name = fluss_command(rounds, operations, work), "Apache Fluss"
    else:
        command, name = kafkas_command(release, rounds, operations, work), f"Apache Kafka {release}"
    measured = measure(command, rounds)
    counts = ((each.round, each.entries, each.timer_size, each.estimate) for each in measured)
    rows = (list(map(number, each)) for each in counts)
    click.echo(table(("round", "entries", "timer size", "estimate"), rows, left=0))
    exceeding = sum(each.exceeds for each in measured)
    click.echo(
        f"\n{name}, {operations:,} operations a round, purge interval "
        f"{measured[0].purge_interval:,}: exceeded in {exceeding} of {len(measured)} rounds."
    )


if __name__ == "__main__":
    main()
