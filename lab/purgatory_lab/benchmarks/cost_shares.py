"""Shares of an operation's processor time: the user's, ours, and the collector's.

    python -m purgatory_lab.benchmarks.cost_shares
    python -m purgatory_lab.benchmarks.cost_shares --operations 10000 --rounds 9

The stretches of the measures ``purgatory`` and ``expire/virtual`` are measured one by one: making
the objects, calling what a user has written, and the whole. What is left is the implementation's.
Everything is measured with the garbage collector and without, and the difference is the
collector's. A figure is the median of all rounds, ns for each operation.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import click

from purgatory_impl import (
    COMPILED,
    OneShotTask,
    Purgatory,
    SteppedExecutor,
    Timer,
    VirtualClock,
)
from purgatory_lab.benchmarks.python_peer.costs import expect
from purgatory_lab.benchmarks.python_peer.draws import VIRTUAL, Draws, key_names
from purgatory_lab.benchmarks.python_peer.new_design import Request
from purgatory_lab.benchmarks.python_peer.purgatory_measures import TIME_OUT_MS, judge_completions
from purgatory_lab.documents import number, table

KEYS = 3
TRIES_OF_WATCH, TRIES_OF_CHECK = 2, 1


@dataclass(frozen=True)
class CostPart:
    """A part of an operation's cost.

    Attributes:
        whose: ``user``, ``implementation`` or ``harness``.
        quiet_ns: Without the collector, for each operation.
        collected_ns: With it.
    """

    whose: str
    name: str
    quiet_ns: float
    collected_ns: float


Stretches = dict[str, float]
"""Thread time of each stretch, ns for each operation."""


def parts_of_purgatory(operations: int, rounds: int) -> list[CostPart]:
    """Return the parts of watching under three keys and completing."""
    quiet, collected = _both(lambda: _purgatory(operations), rounds)

    def part(whose: str, name: str, ns: Callable[[Stretches], float]) -> CostPart:
        return CostPart(whose, name, ns(quiet), ns(collected))

    return [
        part("harness", "the loop", lambda of: of["loop"]),
        part("user", "make an operation", lambda of: of["make"] - of["loop"]),
        part("user", "two tries by the watch", lambda of: TRIES_OF_WATCH * of["try"]),
        part(
            "implementation",
            "watch",
            lambda of: of["watch"] - of["make"] - TRIES_OF_WATCH * of["try"],
        ),
        part("user", "one try by the check", lambda of: TRIES_OF_CHECK * of["try"]),
        part(
            "implementation",
            "check and complete, with the user's callback",
            lambda of: of["check"] - TRIES_OF_CHECK * of["try"],
        ),
    ]


def parts_of_expiry(operations: int, rounds: int) -> list[CostPart]:
    """Return the parts of adding a timer and letting it expire."""
    quiet, collected = _both(lambda: _expiry(operations), rounds)

    def part(whose: str, name: str, ns: Callable[[Stretches], float]) -> CostPart:
        return CostPart(whose, name, ns(quiet), ns(collected))

    return [
        part("harness", "the loop", lambda of: of["loop"]),
        part("implementation", "make a task", lambda of: of["make"] - of["loop"]),
        part("implementation", "put it into the wheel", lambda of: of["add"] - of["make"]),
        part("implementation", "bring it down, level by level", lambda of: of["advance"]),
        part("user", "the callback", lambda of: of["call"]),
        part(
            "implementation",
            "take it out of the queue, and let go of it",
            lambda of: of["run"] - of["call"],
        ),
    ]


def _both(one_round: Callable[[], Stretches], rounds: int) -> tuple[Stretches, Stretches]:
    """Return the medians without the collector, and with it; rounds alternate."""
    seen: dict[bool, list[Stretches]] = {True: [], False: []}
    was_on = gc.isenabled()
    try:
        for _ in range(rounds):
            for collects in (False, True):
                gc.collect()
                (gc.enable if collects else gc.disable)()
                seen[collects].append(one_round())
    finally:
        (gc.enable if was_on else gc.disable)()
    quiet, collected = (
        {name: median(each[name] for each in seen[collects]) for name in seen[collects][0]}
        for collects in (False, True)
    )
    return quiet, collected


def _each(count: int, stretch: Callable[[], object]) -> float:
    """Return the thread time of a stretch for each operation, ns."""
    gc.collect()
    before_ns = time.thread_time_ns()
    kept = stretch()
    taken_ns = time.thread_time_ns() - before_ns
    del kept
    return taken_ns / count


def _purgatory(count: int) -> Stretches:
    keys = key_names(KEYS)
    ended: list[Request] = []

    def loop() -> list[object]:
        kept: list[object] = []
        keep = kept.append
        for _ in range(count):
            keep(None)
        return kept

    def make() -> list[Request]:
        kept: list[Request] = []
        keep = kept.append
        for _ in range(count):
            keep(Request(TIME_OUT_MS, 0))
        return kept

    def tries() -> None:
        operation = Request(TIME_OUT_MS, 0)
        for _ in range(count):
            operation.try_complete()

    def turns() -> None:
        for _ in range(count):
            pass

    stretches = {name: _each(count, each) for name, each in (("loop", loop), ("make", make))}
    stretches["try"] = _each(count, tries) - _each(count, turns)
    purgatory: Purgatory[str] = Purgatory()
    with purgatory:

        def watch() -> None:
            keep, watch_ = ended.append, purgatory.try_complete_else_watch
            for _ in range(count):
                operation = Request(TIME_OUT_MS, 0)
                watch_(operation, keys)
                keep(operation)

        def check() -> int:
            return sum(map(purgatory.check_and_complete, keys))

        stretches["watch"] = _each(count, watch)
        for operation in ended:
            operation.ready = True
        stretches["check"] = _each(count, check)
    judge_completions(ended)
    return stretches


def _expiry(count: int) -> Stretches:
    delays_ms = VIRTUAL.draw(Draws(1), count)
    runs = 0

    def ran() -> None:
        nonlocal runs
        runs += 1

    def loop() -> None:
        for _ in delays_ms:
            pass

    def make() -> list[OneShotTask]:
        return [OneShotTask(ran) for _ in delays_ms]

    def call() -> None:
        for _ in delays_ms:
            ran()

    stretches = {name: _each(count, each) for name, each in (("loop", loop), ("make", make))}
    stretches["call"] = _each(count, call) - stretches["loop"]
    runs = 0
    clock, executor = VirtualClock(), SteppedExecutor()
    with Timer(clock=clock, executor=executor) as timer:

        def run() -> None:
            run_one = executor.run_one
            while run_one():
                pass

        stretches["add"] = _each(count, lambda: [timer.add(ran, each) for each in delays_ms])
        clock.set_ms(VIRTUAL.lowest_ms + VIRTUAL.span)
        stretches["advance"] = _each(count, timer.advance)
        stretches["run"] = _each(count, run)
        expect("timers left", 0, timer.size)
    expect("tasks that ran", count, runs)
    return stretches


def table_of(parts: list[CostPart]) -> str:
    """Return all parts and their sum, as Markdown."""
    whole = CostPart(
        "",
        "**together**",
        sum(part.quiet_ns for part in parts),
        sum(part.collected_ns for part in parts),
    )
    rows = (
        (
            *(part.name, part.whose, number(part.quiet_ns)),
            number(part.collected_ns - part.quiet_ns),
        )
        for part in (*parts, whole)
    )
    return table(("part", "whose", "ns, without the collector", "the collector's"), rows, left=2)


@click.command()
@click.option("--operations", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
def main(operations: int, rounds: int) -> None:
    """Say where the processor time of an operation goes."""
    build = "compiled" if COMPILED else "interpreted"
    click.echo(f"{build}, {operations:,} operations, median of {rounds} rounds\n")
    click.echo("Watch under three keys and complete\n")
    click.echo(table_of(parts_of_purgatory(operations, rounds)))
    click.echo("\nAdd a timer and let it expire\n")
    click.echo(table_of(parts_of_expiry(operations, rounds)))


if __name__ == "__main__":
    main()
