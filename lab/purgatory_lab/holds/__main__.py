"""How long the longest single hold of a lock is, and how many steps it takes.

    python -m purgatory_lab.holds
    python -m purgatory_lab.holds --size 10000 --rounds 5

The parts that locks guard are driven in one thread, a hold at a time, once with the garbage
collector and once without. Times hold for this machine and this build only. Counts of steps are
exact, and each is compared with its bound: exit code 1 where one is above it.

Not measured are the holds that take a fixed number of steps whatever there is: those of the
accounting, of a cancel, and of an operation.
"""

import os
import platform
from collections.abc import Callable

import click

from purgatory_lab.holds.purgatory_holds import LostEntries, PurgatoryHolds
from purgatory_lab.holds.stopwatch import CollectorClock, Section, Stopwatches, collector
from purgatory_lab.holds.table import Row, collector_line, table
from purgatory_lab.holds.timer_holds import CASCADE, DUE, Miscount, TimerHolds
from purgatory_impl import COMPILED

SIZES = (1_000, 100_000, 1_000_000)


def measure(size: int, rounds: int, collected: CollectorClock) -> list[Row]:
    """Measure all sections with so many tasks and entries.

    Args:
        size: How many.
        rounds: With the collector; there are as many without it.
        collected: Is told when the collector runs.

    Raises:
        Miscount: the steps of a pass do not add up.
        LostEntries: a purge or a check did not do its work.
    """
    timer = TimerHolds(size)
    rows = _measured(timer.measure, rounds, collected)
    for section in (DUE, CASCADE):
        row = rows[section]
        # A hold that is seen to do more needs no further count.
        if not row.breaks_bound:
            row.recounted = max(timer.steps_of(section, hold) for hold in (0, row.longest_at))
    del timer
    of_lists = _measured(PurgatoryHolds(size).measure, rounds, collected)
    return [*rows.values(), *of_lists.values()]


def _measured(
    one_round: Callable[[Stopwatches], None], rounds: int, collected: CollectorClock
) -> dict[Section, Row]:
    """Run all rounds, each with the collector and without."""
    rows: dict[Section, Row] = {}
    for _ in range(rounds):
        for runs in (True, False):
            watches = Stopwatches(collected)
            with collector(runs, collected):
                one_round(watches)
            for section, watch in watches.by_section.items():
                row = rows.setdefault(section, Row(section))
                (row.with_collector if runs else row.without_collector).append(watch)
    return rows


def _machine() -> str:
    version = f"{platform.python_implementation()} {platform.python_version()}"
    build = "compiled" if COMPILED else "pure"
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return f"The {build} build on {version}, {system}."


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.option(
    "--size",
    "sizes",
    multiple=True,
    default=SIZES,
    show_default=True,
    type=click.IntRange(min=1),
    help="Tasks and entries; may be given more than once.",
)
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
def main(sizes: tuple[int, ...], rounds: int) -> None:
    """Print a table for each size, and what breaks a bound."""
    click.echo(f"{_machine()} Rounds: {rounds}; times are median [least to most].")
    broken: list[str] = []
    for size in sizes:
        collected = CollectorClock()
        try:
            rows = measure(size, rounds, collected)
        except (Miscount, LostEntries) as failure:
            raise click.ClickException(str(failure)) from failure
        click.echo(f"\n{size:,} tasks, {size:,} entries\n\n{table(rows)}")
        click.echo(f"\n{collector_line(collected)}")
        broken += [f"{size:,}: {row.section.name}" for row in rows if row.breaks_bound]
    if broken:
        raise click.ClickException("a hold takes more than its bound: " + "; ".join(broken))
    click.echo("\nNo hold that has a bound takes more steps than that.")


if __name__ == "__main__":
    main()
