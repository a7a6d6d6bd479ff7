"""Costs of recording: the processor time of a workload with and without its recorder.

    python -m purgatory_lab.benchmarks.trace_recording
    python -m purgatory_lab.benchmarks.trace_recording --rounds 9 --turns 200000 --subject bundled

The workload is that of ``purgatory trace record``: four threads, random calls, the real clock. Each
round runs it both ways, one after the other, so that what else goes on in the machine meets both;
shown are medians over the rounds. The time is that of the whole process: the threads that call,
reaper and executor, and with the recorder encoding and writing.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from purgatory_conformance.commands.options import WORK
from purgatory_lab.documents import number, table
from purgatory_spec.profiles import Component
from purgatory_traces.recording.recording_run import Recorded, record_bundled, record_kafka
from purgatory_traces.recording.workload import Wish

_KAFKA_TURNS = 10
"""The factor of more turns for Kafka: most of them are to run on a warm virtual machine."""
_COMPONENTS = [Component.TIMER, Component.PURGATORY, Component.MEMORY_POOL]


class Round(NamedTuple):
    """A round: microseconds of processor time per turn, and the lines and bytes written."""

    plain_us: float
    recorded_us: float
    lines_per_turn: float
    bytes_per_line: float

    @property
    def per_line_us(self) -> float:
        """Return the cost of recording a line, microseconds."""
        return (self.recorded_us - self.plain_us) / self.lines_per_turn


def run_once(
    subject: str, component: Component, wish: Wish, path: Path | None, work: Path
) -> Recorded:
    """Run the workload once, recorded where there is a path."""
    if subject == "bundled":
        return record_bundled(component, wish, path)
    return record_kafka(component, wish, path, work_folder=work)


def measure(subject: str, component: Component, rounds: int, turns: int, work: Path) -> list[Round]:
    """Run all rounds; in every other one the recorder comes first."""
    found = []
    lines_per_turn = 2.0
    with TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            path = Path(folder) / f"{number}.jsonl"
            plain_wish = Wish(lines=turns, seed=number)
            # As many turns as without: the workload counts lines where there are any.
            recorded_wish = Wish(lines=round(turns * lines_per_turn), seed=number)
            if number % 2:
                recorded = run_once(subject, component, recorded_wish, path, work)
                plain = run_once(subject, component, plain_wish, None, work)
            else:
                plain = run_once(subject, component, plain_wish, None, work)
                recorded = run_once(subject, component, recorded_wish, path, work)
            path.unlink()
            lines_per_turn = recorded.lines / recorded.turns
            if number:  # the first one is to get warm, and to learn how many lines a turn has
                found.append(
                    Round(
                        plain.cpu_ns / plain.turns / 1e3,
                        recorded.cpu_ns / recorded.turns / 1e3,
                        lines_per_turn,
                        recorded.bytes_ / recorded.lines,
                    )
                )
    return found


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1))
@click.option("--turns", default=100_000, show_default=True, type=click.IntRange(min=1))
@click.option("--subject", type=click.Choice(["bundled", "kafka"]), multiple=True)
@WORK
def main(rounds: int, turns: int, subject: tuple[str, ...], work: Path) -> None:
    """Measure the recorder's costs and print them in a table."""
    rows = []
    for name in subject or ("bundled", "kafka"):
        for component in _COMPONENTS:
            of_each = turns * _KAFKA_TURNS if name == "kafka" else turns
            found = measure(name, component, rounds, of_each, work)
            names = ("plain_us", "recorded_us", "lines_per_turn", "per_line_us", "bytes_per_line")
            medians = (median(getattr(each, figure) for each in found) for figure in names)
            figures = map(number, medians, (1, 1, 1, 2, 0))
            rows.append((f"{name} {component.value.replace('_', ' ')}", *figures))
    head = ("subject", "without, us/turn", "recorded, us/turn", "lines/turn", "us/line")
    click.echo(table((*head, "bytes/line"), rows))


if __name__ == "__main__":
    main()
