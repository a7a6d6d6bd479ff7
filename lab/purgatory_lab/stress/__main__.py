"""The implementation under many threads, and how surely that finds races that are planted.

    python -m purgatory_lab.stress
    python -m purgatory_lab.stress --component timer --seed 7 --rounds 1000
    python -m purgatory_lab.stress --races --runs 20

Exit code 1 where something is wrong, or a planted race was not found.
"""

import sys
import time
from statistics import mean

import click

from purgatory_lab.documents import number, table
from purgatory_lab.stress.harness import PATIENCE_S
from purgatory_lab.stress.hunting import hunt
from purgatory_lab.stress.races import RACES, Race
from purgatory_lab.stress.stress_run import COMPONENTS, stress


def _stress_all(components: tuple[str, ...], seed: int, rounds: int, patience_s: float) -> bool:
    """Run each component; whether all is well."""
    well = True
    for component in components:
        began = time.monotonic()
        run = stress(component, seed, rounds, patience_s)
        click.echo(f"{run}\n{'seconds':>30} {time.monotonic() - began:>9.1f}")
        well = well and not run.findings
    return well


def _hunt(races: list[Race], seed: int, runs: int, rounds: int) -> bool:
    """Plant each race some times and look for it; whether it was found every time."""
    rows = []
    always = True
    for race in races:
        hunts = [hunt(race, seed + 1000 * n, rounds) for n in range(runs)]
        hits = [each for each in hunts if each.has_found(race)]
        needed = [each.rounds for each in hits] or [0]
        kinds = {each.kinds[0] for each in hits}
        counts = (f"{len(hits)} of {runs}", number(mean(needed), 1), number(max(needed)))
        rows.append((race.name, race.component, *counts, ", ".join(sorted(kinds))))
        always = always and len(hits) == runs
    head = ("race", "component", "found", "rounds, mean", "rounds, most", "as")
    click.echo(table(head, rows, left=("race", "component", "as")))
    return always


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@click.option("--component", "components", type=click.Choice(COMPONENTS), multiple=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--rounds", default=100, show_default=True, type=click.IntRange(min=1))
@click.option("--patience", default=PATIENCE_S, show_default=True, help="Seconds until stuck.")
@click.option("--races", is_flag=True, help="Plant the races, instead of running what is there.")
@click.option("--race", "names", type=click.Choice([race.name for race in RACES]), multiple=True)
@click.option("--runs", default=20, show_default=True, type=click.IntRange(min=1))
def main(
    components: tuple[str, ...],
    seed: int,
    rounds: int,
    patience: float,
    races: bool,
    names: tuple[str, ...],
    runs: int,
) -> None:
    """Run the stress, or the hunt for planted races; see the first lines of this module."""
    wanted = components or COMPONENTS
    if races or names:
        chosen = [race for race in RACES if race.component in wanted]
        chosen = [race for race in chosen if not names or race.name in names]
        well = _hunt(chosen, seed, runs, rounds)
    else:
        well = _stress_all(wanted, seed, rounds, patience)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
