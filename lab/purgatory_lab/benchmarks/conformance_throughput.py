"""Throughput of the suite: steps judged in a second, and the runner's memory.

    python -m purgatory_lab.benchmarks.conformance_throughput
    python -m purgatory_lab.benchmarks.conformance_throughput --write docs/reference/figures.md

Every figure comes from a process of its own, so that none inherits the memory of another. The
first form prints a Markdown table; the second puts it between the marks of a page, and what was
measured into a file beside the page, ``results/conformance-throughput.json``.
"""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.opening import open_subject
from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_lab.benchmarks.bench.machine import in_words
from purgatory_lab.benchmarks.python_peer.resident import peak_bytes
from purgatory_lab.documents import number, table, write_document
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule

SEED = 1
STEPS_PER_CASE = 28
"""The steps of a generated case, about; the figures say how many there really were."""


@dataclass(frozen=True)
class Figure:
    """The figures of a campaign: judged steps, seconds, and the runner's peak memory."""

    subject: str
    steps: int
    start_seconds: float
    seconds: float
    peak_mib: float

    @property
    def steps_per_second(self) -> float:
        """Return the number of steps generated, carried out and judged in a second."""
        return self.steps / self.seconds


def measure(subject: str, component: Component, steps: int, work: Path) -> Figure:
    """Judge a component of a subject for about so many generated steps.

    Raises:
        click.ClickException: the subject failed, so that the figure would mean nothing.
    """
    began = time.perf_counter()
    opened = open_subject(subject, work_folder=work)
    _ = opened.subject.profiles
    started = time.perf_counter()
    cases = max(1, steps // STEPS_PER_CASE)
    budget = Budget(least_cases=cases, most_cases=cases, minimum_visits=0)
    declared = tuple(
        each for each in opened.deviations if component_of_rule(each.rule) is component
    )
    try:
        campaign = run_campaign(
            opened.subject, component, seed=SEED, budget=budget, deviations=declared
        )
    finally:
        opened.subject.close()
    if campaign.verdict not in (Verdict.CONFORMANT, Verdict.CONFORMANT_WITH_DEVIATIONS):
        raise click.ClickException(f"{subject}: {campaign.verdict.value}: {campaign.why}")
    return Figure(
        subject=subject,
        steps=campaign.steps,
        start_seconds=started - began,
        seconds=time.perf_counter() - started,
        peak_mib=peak_bytes() / 2**20,
    )


def measured_apart(subject: str, component: Component, steps: int, work: Path) -> Figure:
    """Return the figure of a measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", subject, "--component", component.value]
    command += ["--steps", str(steps), "--work", str(work)]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return Figure(**json.loads(done.stdout))


@dataclass(frozen=True)
class Measured:
    """A run of the command: the machine, and the figures with their labels in the table."""

    machine: str
    figures: list[tuple[str, Figure]]


_HEAD = ("subject", "steps", "start, s", "judging, s", "steps a second", "peak memory, MiB")


def text_of(measured: Measured) -> str:
    """Return the figures as a Markdown table, with the machine of the measurement."""
    rows = (
        (
            *(label, number(each.steps), number(each.start_seconds, 2), number(each.seconds, 1)),
            *(number(each.steps_per_second), number(each.peak_mib)),
        )
        for label, each in measured.figures
    )
    return f"Measured on {measured.machine}.\n\n{table(_HEAD, rows)}"


@click.command()
@click.option("--steps", type=click.IntRange(1), default=50_000, show_default=True)
@click.option("--times", type=click.IntRange(2), default=10, show_default=True, help="For memory.")
@click.option("--kafka/--no-kafka", default=None, help="By default where Java is installed.")
@WORK
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
@click.option("--one", default="", hidden=True)
@click.option("--component", default=Component.TIMER.value, hidden=True)
def main(
    steps: int,
    times: int,
    kafka: bool | None,
    work: Path,
    write: Path | None,
    one: str,
    component: str,
) -> None:
    """Measure, and print the table or write it into a page."""
    if one:
        click.echo(json.dumps(asdict(measure(one, Component(component), steps, work))))
        return
    timer, purgatory, pool = Component.TIMER, Component.PURGATORY, Component.MEMORY_POOL
    more = f"the same, {times} times as many steps"
    wanted = [
        ("`bundled`, timer, in process", "bundled", timer, steps),
        (more, "bundled", timer, times * steps),
        ("`bundled`, purgatory, in process", "bundled", purgatory, steps),
        ("`bundled`, memory pool, in process", "bundled", pool, steps),
        ("`heap-timer`, a child process", "heap-timer", timer, steps),
        (more, "heap-timer", timer, times * steps),
    ]
    with_kafka = bool(shutil.which("java") and shutil.which("mvn")) if kafka is None else kafka
    if with_kafka:
        measured_apart("kafka", pool, 1, work)  # builds the adapter, which is not to be measured
        wanted += [
            ("`kafka` 4.4.0, timer, virtual clock", "kafka", timer, steps),
            ("`kafka` 4.4.0, purgatory", "kafka", purgatory, steps),
            ("`kafka` 4.4.0, memory pool", "kafka", pool, steps),
        ]
    figures = [
        (label, measured_apart(name, part, count, work)) for label, name, part, count in wanted
    ]
    measured = Measured(in_words(), figures)
    if write is None:
        click.echo(text_of(measured))
    else:
        write_document(write.parent / "results" / "conformance-throughput.json", measured)
        write_between_marks(write, "figures", text_of(measured))


if __name__ == "__main__":
    main()
