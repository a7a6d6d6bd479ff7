"""Records four corpora with the real clock, a million lines each by four threads, and checks them.

    python -m purgatory_lab.benchmarks.record_corpora
    python -m purgatory_lab.benchmarks.record_corpora --out FOLDER --events 5000000

The timer and the purgatory of the bundled implementation, and those of Apache Kafka, unmodified
and with its own threads. Nothing is checked in: the corpora differ from run to run.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click

from purgatory_lab.documents import number, table

_PURGATORY = Path(sys.executable).with_name("purgatory")
_CORPORA = [
    (subject, component) for subject in ("bundled", "kafka") for component in ("timer", "purgatory")
]


class Corpus(NamedTuple):
    """The recording and the check of a corpus."""

    name: str
    megabytes: float
    recorded_seconds: float
    checked_cpu_seconds: float
    exit_code: int

    @property
    def row(self) -> tuple[str, ...]:
        """Return a row of the table."""
        figures = (self.megabytes, self.recorded_seconds, self.checked_cpu_seconds)
        verdict = "conforms" if self.exit_code == 0 else f"exit code {self.exit_code}"
        return (self.name, *(number(each, 1) for each in figures), verdict)


def corpus(subject: str, component: str, out: Path, events: int, release: str) -> Corpus:
    """Record a corpus and check the recording.

    Raises:
        click.ClickException: it could not be recorded.
    """
    name = f"{subject}-{component}"
    path = out / f"{name}.jsonl.gz"
    path.unlink(missing_ok=True)
    record = [
        *(str(_PURGATORY), "trace", "record", subject, "--component", component),
        *("--out", str(path), "--events", str(events), "--lateness", "2000"),
        *(["--release", release] if subject == "kafka" and release else []),
    ]
    began = time.monotonic()
    if subprocess.run(record, check=False).returncode != 0:
        raise click.ClickException(f"{name} could not be recorded")
    recorded = time.monotonic() - began
    check = [str(_PURGATORY), "trace", "check", str(path), "--engine", "local"]
    before = _children_cpu_seconds()
    checked = subprocess.run([*check, "--out", str(out / name)], check=False)
    cpu = _children_cpu_seconds() - before
    return Corpus(name, path.stat().st_size / 1e6, recorded, cpu, checked.returncode)


def _children_cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.option("--out", default=Path("purgatory-work/corpora"), type=click.Path(path_type=Path))
@click.option("--events", default=1_000_000, show_default=True, type=click.IntRange(min=1))
@click.option("--release", default="", help="Release of Apache Kafka.")
def main(out: Path, events: int, release: str) -> None:
    """Print a table of the corpora; ends with 1 where one of them does not conform."""
    corpora = _CORPORA
    if shutil.which("java") is None:
        click.echo("java is not installed: the corpora of Kafka are left out", err=True)
        corpora = [each for each in _CORPORA if each[0] != "kafka"]
    out.mkdir(parents=True, exist_ok=True)
    found = [corpus(*each, out, events, release) for each in corpora]
    head = ("corpus", "MB, compressed", "s to record", "CPU s to check", "verdict")
    click.echo(table(head, (each.row for each in found), left=("corpus", "verdict")))
    sys.exit(any(each.exit_code for each in found))


if __name__ == "__main__":
    main()
