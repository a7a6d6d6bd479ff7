"""The commands about scheduling: run code under chosen interleavings, the bundled or a user's."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_USAGE, Problem
from purgatory_conformance.subjects.declaration import declaration_of
from purgatory_lab.commands.schedule_class import (
    class_,
    counts_of,
    print_run,
    problems_of_runs,
    wide_console,
)
from purgatory_lab.scheduling.bundled.scenarios import (
    SCENARIOS,
    prepared_scenario,
    scheduled,
)
from purgatory_lab.scheduling.bundled.seeded_races import SEEDED_RACES, SeededRace
from purgatory_lab.scheduling.bundled.table import BUNDLED
from purgatory_lab.scheduling.model_outcomes import EndsOf
from purgatory_lab.scheduling.run import Record
from purgatory_lab.scheduling.scenario import Runs
from purgatory_lab.scheduling.schedule import as_text, from_text
from purgatory_lab.scheduling.search import Search, exhaust, replay, sample

_RACES: Final = {race.name: race for race in SEEDED_RACES}

_race_option = click.option(
    "--race",
    type=click.Choice(list(_RACES)),
    metavar="RACE",
    default=None,
    help="Plant this race in the implementation first; see: purgatory schedule races.",
)


class _OrClass(click.Group):
    """A group whose first word may be a class in place of a command."""

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first word, or that of a class."""
        if (
            words
            and words[0] not in self.commands
            and (":" in words[0] or declaration_of(words[0]))
        ):
            words = ["class", *words]
        return super().resolve_command(context, words)


@click.group(cls=_OrClass)
def schedule() -> None:
    """Run threads under interleavings that are chosen.

    `purgatory schedule module:factory` runs your own timer, purgatory or memory pool, written with
    threading; see: purgatory schedule class --help. The other commands run the bundled ones.
    """


schedule.add_command(class_)


@schedule.command("list")
def list_() -> None:
    """List the scenarios and their threads."""
    for name, prepared in SCENARIOS.items():
        threads = ", ".join(program.thread for program in prepared.scenario.programs)
        click.echo(f"{name}  {threads}\n    {prepared.scenario.about}")


@schedule.command()
def points() -> None:
    """List the yield points: the locks of the implementation, and the fields that threads share."""
    table = _table("module", "name", "where", "why")
    for point in BUNDLED.points:
        module = point.module.removeprefix(f"{BUNDLED.package}.")
        table.add_row(module, point.name, point.where.value, point.why)
    _print(table)


@schedule.command()
@click.argument("scenario", default="all")
@click.option(
    *("--preemptions", "preemptions"),
    type=click.IntRange(0, 9),
    default=2,
    show_default=True,
    help="The most that a schedule has.",
)
@click.option(
    *("--limit", "limit"),
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Most schedules of each.",
)
@click.option("--random", "runs", type=click.IntRange(1), default=None, help="So many random ones.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the random ones.")
@_race_option
@click.pass_context
def run(
    context: click.Context,
    scenario: str,
    preemptions: int,
    limit: int,
    runs: int | None,
    seed: int,
    race: str | None,
) -> None:
    """Run SCENARIO, or all, under all schedules with few preemptions, or under random ones.

    Besides those of the list there are generated ones, by a number: generated-exact-17,
    generated-proposal-17, generated-timer-17.

    Exits with 0 where nothing is wrong, 1 where a schedule fails, which is shown, 4 where the
    limit was reached, so that schedules are left.
    """
    console = wide_console()
    names = _named(scenario)
    made = 0
    complete = True
    for name in names:
        with _prepared(name, race) as prepared:
            if runs is None:
                search = exhaust(prepared, preemptions, limit)
            else:
                search = sample(prepared, runs, seed)
            console.print(f"{name}: {counts_of(search)}{_ends(prepared)}", soft_wrap=True)
        made += search.schedules
        complete &= search.complete or runs is not None
        if search.failure is not None:
            _show(console, name, search.failure, race)
            context.exit(1)
    if len(names) > 1:
        rest = "" if complete else " in these; more are left"
        console.print(f"{len(names)} scenarios, {made:,} schedules: nothing is wrong{rest}")
    context.exit(0 if complete else EXIT_INCONCLUSIVE)


@schedule.command("replay")
@click.argument("scenario")
@click.argument("text", metavar="SCHEDULE")
@_race_option
@click.pass_context
def replay_(context: click.Context, scenario: str, text: str, race: str | None) -> None:
    """Run SCENARIO once, under SCHEDULE, and show what each thread does.

    Exits with 0 where every run is right, 1 after a faulty run.
    """
    (name,) = _named(scenario, one=True)
    with _prepared(name, race) as prepared:
        record = replay(prepared, from_text(text))
    console = wide_console()
    _show(console, name, record, race)
    context.exit(0 if record.failure is None else 1)


@schedule.command()
@click.option("--preemptions", type=click.IntRange(0, 9), default=2, show_default=True)
@click.option("--random", "runs", type=click.IntRange(1), default=2_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.pass_context
def races(context: click.Context, preemptions: int, runs: int, seed: int) -> None:
    """Plant each race, and say after how many schedules it is found.

    Exits with 0 where each is found by the schedules with few preemptions, 1 where one is not.
    """
    table = _table("race", "scenario", "found after", "schedule", "at random after")
    escaped = 0
    plantable = [race for race in SEEDED_RACES if race.can_be_planted]
    for race in plantable:
        with _prepared(race.scenario, race.name) as prepared:
            found = exhaust(prepared, preemptions)
            sampled = sample(prepared, runs, seed)
        escaped += found.failure is None
        table.add_row(race.name, race.scenario, _after(found), found.schedule, _after(sampled))
    _print(table)
    if left_out := len(SEEDED_RACES) - len(plantable):
        click.echo(f"{left_out} others cannot be planted in the compiled build")
    context.exit(1 if escaped else 0)


def _after(search: Search) -> str:
    return str(search.schedules) if search.failure is not None else f"not in {search.schedules}"


def _named(scenario: str, *, one: bool = False) -> list[str]:
    """Return the scenarios that are asked for.

    Raises:
        Problem: no scenario has the name.
    """
    if scenario == "all" and not one:
        return list(SCENARIOS)
    try:
        prepared_scenario(scenario)
    except KeyError:
        raise Problem(
            f"there is no scenario {scenario!r}; see: purgatory schedule list", EXIT_USAGE
        ) from None
    return [scenario]


@contextmanager
def _prepared(scenario: str, race: str | None) -> Iterator[Runs]:
    """Provide runs of a scenario, in an implementation that may have a planted race.

    Raises:
        Problem: a schedule does not fit, or a run cannot be ended.
    """
    with ExitStack() as stack:
        if race is not None:
            stack.enter_context(_race(race).planted())
        runs = stack.enter_context(scheduled(scenario))
        with problems_of_runs():
            yield runs


def _race(name: str) -> SeededRace:
    """Return the race of a name.

    Raises:
        Problem: the race cannot be planted in this build.
    """
    race = _RACES[name]
    if not race.can_be_planted:
        raise Problem(f"race {name} cannot be planted in the compiled build", EXIT_USAGE)
    return race


def _ends(runs: Runs) -> str:
    """Return the number of ends of a model that were seen, where there is a model."""
    for look in runs.looks:
        if isinstance(look, EndsOf):
            outside = f", {len(look.outside)} besides" if look.outside else ""
            return f"; {len(look.seen & look.known)} of the model's {len(look.known)} ends{outside}"
    return ""


def _show(console: Console, scenario: str, record: Record, race: str | None) -> None:
    """Print a run, and how to have it again."""
    option = "" if race is None else f" --race {race}"
    again = f"replay {scenario} {as_text(record.chosen())}{option}"
    print_run(console, record, f"purgatory schedule {again}")


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _print(table: Table) -> None:
    wide_console().print(table)
