"""Instructions and cache misses of one operation, counted by Valgrind: no clock.

    python -m purgatory_lab.benchmarks.counters
    python -m purgatory_lab.benchmarks.counters --measure expire --wheel-size 20 --wheel-size 60
    python -m purgatory_lab.benchmarks.counters --measure interpreted --measure ready-made

Each measure is run twice, with few and with many operations, on the same inputs; the difference,
divided by the operations that it has more, is what one operation takes, with the loop that asks for
it. Instructions are exact, and the same on every machine that has the same Python and compiler.
Misses are those of a simulated processor: of its first level of cache, and of the second.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import click

from purgatory_impl import COMPILED, InlineExecutor, Timer, VirtualClock
from purgatory_lab.benchmarks.python_peer.costs import Tally, expect
from purgatory_lab.benchmarks.python_peer.draws import VIRTUAL, Draws
from purgatory_lab.benchmarks.python_peer.messages import Request
from purgatory_lab.benchmarks.python_peer.new_design import EXACT
from purgatory_lab.benchmarks.python_peer.purgatory_measures import PurgatoryMeasures
from purgatory_lab.benchmarks.python_peer.timers import END_MS
from purgatory_lab.documents import number, table

PATIENCE_S: Final = 1800.0
SEED: Final = 1


@dataclass(frozen=True)
class Caches:
    """The caches of a processor, as Valgrind has them: bytes, ways, bytes of a line."""

    name: str
    first: str
    second: str


PROCESSORS: Final = (
    Caches("48 KiB, 2 MiB", "49152,12,64", "2097152,16,64"),
    Caches("32 KiB, 512 KiB", "32768,8,64", "524288,8,64"),
)
"""The first two cache levels of an Intel Xeon, and those of an AMD EPYC up to its third."""


@dataclass(frozen=True)
class Work:
    """The work of one process.

    Attributes:
        measure: ``hot``, ``random`` or ``expire`` of a timer, as the peers have them, on a virtual
            clock; or what ``OF_PURGATORY`` names.
        pending: Timers in the wheel before the run.
        drawn: For how many operations inputs are drawn.
        done: How many of those are done.
        wheel_size: Of the timer.
    """

    measure: str
    pending: int
    drawn: int
    done: int
    wheel_size: int

    def words(self) -> list[str]:
        """Return the work as words of a command line."""
        return [self.measure, *map(str, (self.pending, self.drawn, self.done, self.wheel_size))]


def work(of: Work) -> None:
    """Do it; the inputs are drawn before, the same however much of them is done."""
    if of.measure in OF_PURGATORY:
        OF_PURGATORY[of.measure](PurgatoryMeasures(EXACT), Request("purgatory", operations=of.done))
        return
    draws, tally, clock = Draws(SEED), Tally(), VirtualClock()
    first = VIRTUAL.draw(draws, of.pending)
    delays_ms = VIRTUAL.draw(draws, of.drawn)[: of.done]
    victims = [draws.below(of.pending or 1) for _ in range(of.drawn)][: of.done]
    executor = InlineExecutor()
    with Timer(clock=clock, executor=executor, wheel_size=of.wheel_size, reaper=False) as timer:
        add, cancel, ran = timer.add, timer.cancel, tally.ran
        kept = [add(ran, delay_ms) for delay_ms in first]
        if of.measure == "hot":
            for delay_ms in delays_ms:
                cancel(add(ran, delay_ms))
        elif of.measure == "random":
            for victim, delay_ms in zip(victims, delays_ms, strict=True):
                cancel(kept[victim])
                kept[victim] = add(ran, delay_ms)
        else:
            for delay_ms in delays_ms:
                add(ran, delay_ms)
            clock.set_ms(END_MS)
            timer.advance()
            expect("tasks that ran", of.pending + of.done, tally.runs)
            return
        expect("timers pending", of.pending, timer.size)


def count(caches: Caches, of: Work) -> Mapping[str, int]:
    """Return the events of a process that does the work, by Valgrind's names.

    Raises:
        click.ClickException: Valgrind is missing, or the process failed.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise click.ClickException("valgrind is not installed (no `valgrind` on the path)")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = [
            valgrind,
            "--tool=callgrind",
            "--cache-sim=yes",
            f"--D1={caches.first}",
            f"--LL={caches.second}",
            f"--callgrind-out-file={out}",
            *(sys.executable, "-m", "purgatory_lab.benchmarks.counters", "--only-work"),
            *of.words(),
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        if done.returncode != 0:
            raise click.ClickException(f"valgrind ended with {done.returncode}: {done.stderr}")
        return totals(out.read_text(encoding="utf-8"))


def totals(text: str) -> Mapping[str, int]:
    """Return the sums of a file of Callgrind.

    Raises:
        click.ClickException: there are none.
    """
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    try:
        return dict(zip(lines["events"].split(), map(int, lines["totals"].split()), strict=True))
    except (KeyError, ValueError) as problem:
        raise click.ClickException(f"this is no file of Callgrind: {problem!r}") from None


def of_one(
    measure: str, few: int, many: int, wheel_size: int, counted: Callable[[Work], Mapping[str, int]]
) -> Mapping[str, float]:
    """Return the events of one operation: the difference of two runs on the same inputs."""
    pending = many if measure in ("hot", "random") else 0
    less, more = (counted(Work(measure, pending, many, done, wheel_size)) for done in (few, many))
    return {name: (more[name] - less[name]) / (many - few) for name in more}


def rows(
    measures: tuple[str, ...], few: int, many: int, wheel_sizes: tuple[int, ...]
) -> Iterator[list[str]]:
    """Yield a row for each measure and wheel size."""
    for measure in measures:
        for wheel_size in wheel_sizes:
            seen = [
                of_one(measure, few, many, wheel_size, partial(count, each)) for each in PROCESSORS
            ]
            misses = [
                number(sum(each[name] for name in names), 1)
                for each in seen
                for names in (("D1mr", "D1mw"), ("DLmr", "DLmw"))
            ]
            yield [measure, str(wheel_size), number(seen[0]["Ir"]), *misses]


MEASURES: Final = ("hot", "random", "expire")
"""The measures of a timer, which are counted where none is named."""

OF_PURGATORY: Final[Mapping[str, Callable[[PurgatoryMeasures, Request], object]]] = {
    "interpreted": PurgatoryMeasures.complete_interpreted,
    "ready-made": PurgatoryMeasures.complete_ready_made,
    "users-share": PurgatoryMeasures.users_share,
}
"""Watch under three keys and complete: operations of an interpreted class, and made of callables.

The users' share of the first is the loop, the making of operations and three tries of each.
"""


@click.command()
@click.option("--measure", "measures", type=click.Choice([*MEASURES, *OF_PURGATORY]), multiple=True)
@click.option("--few", type=click.IntRange(1), default=40_000, show_default=True)
@click.option("--many", type=click.IntRange(2), default=100_000, show_default=True)
@click.option("--wheel-size", "wheel_sizes", type=click.IntRange(2), multiple=True)
@click.option("--only-work", type=(str, int, int, int, int), hidden=True)
def main(
    measures: tuple[str, ...],
    few: int,
    many: int,
    wheel_sizes: tuple[int, ...],
    only_work: tuple[str, int, int, int, int] | None,
) -> None:
    """Count the instructions and cache misses of one operation."""
    if only_work is not None:
        work(Work(*only_work))
        return
    if few >= many:
        raise click.UsageError("--few must be less than --many")
    build = "compiled" if COMPILED else "interpreted"
    python = ".".join(map(str, sys.version_info[:3]))
    head = ["measure", "wheel size", "instructions"]
    for each in PROCESSORS:
        head += [f"misses of the first level, {each.name}", "of the second"]
    click.echo(
        f"{build}, CPython {python}, {many:,} timers or operations, for each operation\n\n"
        f"{table(head, rows(measures or MEASURES, few, many, wheel_sizes or (20,)))}"
    )


if __name__ == "__main__":
    main()
