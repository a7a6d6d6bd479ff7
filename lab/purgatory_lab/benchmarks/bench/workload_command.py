"""``purgatory bench workload``: the proposal's experiment."""

from pathlib import Path
from typing import Final

import click

from purgatory_lab.benchmarks.bench.bench_command import (
    WORK,
    chosen_rolls,
    finish,
    options_of_a_run,
    say,
)
from purgatory_lab.benchmarks.bench.building import find_checkout
from purgatory_lab.benchmarks.bench.results import Option
from purgatory_lab.benchmarks.bench.roster import WORKLOAD_ROLLS, Place
from purgatory_lab.benchmarks.bench.rounds import Plan
from purgatory_lab.benchmarks.bench.run import Book, sweep_all
from purgatory_lab.benchmarks.bench.sweep_plan import CASES, PURGE_INTERVAL, RATES, Sweep
from purgatory_lab.benchmarks.bench.tight import Limit

_FULL_REQUESTS: Final = 1_000_000
_QUICK_REQUESTS: Final = 20_000
_QUICK_RATES: Final = (10_000, 40_000, 105_000, 200_000, 400_000)


@click.command("workload")
@click.option("--rate", "rates", type=click.IntRange(1), multiple=True, help="Target; repeatable.")
@click.option("--case", "cases", type=click.Choice(CASES), multiple=True, help="Both by default.")
@click.option(
    "--keys", type=click.IntRange(3), multiple=True, help="Repeatable; 3 and 1000 by default."
)
@click.option(
    "--purge-interval",
    "purge_intervals",
    type=click.IntRange(0),
    multiple=True,
    help=f"Of the purgatories; repeatable; {PURGE_INTERVAL} by default, as in Kafka.",
)
@click.option("--requests", type=click.IntRange(1), help="Of each point: 1,000,000.")
@click.option(
    "--payload", type=click.IntRange(0), default=100, show_default=True, help="Bytes of a request."
)
@click.option("--rounds", type=click.IntRange(1), help="Of each point: 3, or 1 with --quick.")
@click.option(
    "--warm-up", type=click.IntRange(0), default=1, show_default=True, help="Before each series."
)
@click.option("--quick", is_flag=True, help="Few requests, few rates, 3 keys: some minutes.")
@click.option(
    "--part",
    "parts",
    type=click.Choice(["rates", "memory"]),
    multiple=True,
    help="Without a limit on memory, or with one; both by default.",
)
@click.option(
    "--resident-limit", type=click.FloatRange(0, min_open=True), help="Limit on memory, MiB."
)
@click.option(
    "--room",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    show_default=True,
    help="Without --resident-limit: so much above what is needed at the lowest rate, MiB.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=WORK / "workload.json",
    show_default=True,
)
@options_of_a_run
def workload(
    rates: tuple[int, ...],
    cases: tuple[str, ...],
    keys: tuple[int, ...],
    purge_intervals: tuple[int, ...],
    requests: int | None,
    payload: int,
    rounds: int | None,
    warm_up: int,
    quick: bool,
    peers: tuple[str, ...],
    own: tuple[tuple[str, str], ...],
    parts: tuple[str, ...],
    resident_limit: float | None,
    room: float,
    seed: int,
    patience: float,
    out: Path,
    work: Path,
    checkout: Path | None,
    gate: bool,
) -> None:
    """The proposal's experiment: target rates from low to high, old design and new, and Kafka.

    A series ends for a peer when it achieves less than 95 % of the target rate.
    """
    place = Place(find_checkout(checkout), work.resolve())
    chosen = chosen_rolls(WORKLOAD_ROLLS, own, peers)
    sweep = Sweep(
        rates=sorted(set(rates)) or (_QUICK_RATES if quick else RATES),
        cases=tuple(dict.fromkeys(cases)) or CASES,
        keys=tuple(dict.fromkeys(keys)) or ((3,) if quick else (3, 1000)),
        requests=requests or (_QUICK_REQUESTS if quick else _FULL_REQUESTS),
        payload=payload,
        purge_intervals=tuple(dict.fromkeys(purge_intervals)) or (PURGE_INTERVAL,),
    )
    plan = Plan(rounds or (1 if quick else 3), warm_up, seed, patience)
    options: dict[str, Option] = {
        "quick": quick,
        "rates": tuple(sweep.rates),
        "cases": tuple(sweep.cases),
        "keys": tuple(sweep.keys),
        "requests": sweep.requests,
        "payload": sweep.payload,
        "purge_intervals": tuple(sweep.purge_intervals),
        "rounds": plan.rounds,
        "warm_up": plan.warm_up,
        "seed": seed,
        "patience_s": patience,
        "peers": tuple(roll.name for roll in chosen),
        "parts": parts,
        "resident_limit_mib": resident_limit,
        "room_mib": room,
    }
    book = Book("workload", out, options, place.checkout)
    limit = Limit(resident_limit, room) if not parts or "memory" in parts else None
    wanted = not parts or "rates" in parts
    read = sweep_all(book, chosen, place, sweep, limit, plan, say, rates=wanted)
    finish([read], out, gate=gate)
