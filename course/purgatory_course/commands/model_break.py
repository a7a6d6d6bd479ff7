"""The commands that plant a defect and name its catchers."""

from collections.abc import Iterator
from dataclasses import replace

import click
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from purgatory_conformance.command_line import AS_JSON, print_json
from purgatory_conformance.commands.options import ComponentName
from purgatory_conformance.describing.words import counted, noun, printable
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.running.campaign import SUITES, Budget
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_course.breaking.catch_words import (
    answers,
    print_mutant,
    print_shrunk,
    print_who_catches,
)
from purgatory_course.breaking.counterparts import counterparts_of, seeded_defects
from purgatory_course.breaking.who_catches import who_catches
from purgatory_spec.nearest import did_you_mean
from purgatory_spec.profiles import Component
from purgatory_spec.seeded_defects import SeededDefect

_BUDGET = SUITES["quick"]
_COMPONENT = click.option("--component", type=ComponentName(), help="Only those of this component.")


@click.group("break")
def break_() -> None:
    """Plant a defect in an implementation and see who catches it."""


@break_.command("list")
@_COMPONENT
@AS_JSON
def list_(component: str | None, as_json: bool) -> None:
    """List what can be planted: the mutants, and the defects that are planted in the TLA+."""
    console = standard_output()
    wanted = [Component(component)] if component else list(Component)
    if as_json:
        chosen = [each for each in mutants() if each.component in wanted]
        print_json({"mutants": list(map(_as_object, chosen)), "tla": list(_seeded(wanted))})
        return
    for each in wanted:
        _print_mutants(console, each)
    _print_seeded(console, wanted)


def _print_mutants(console: Console, component: Component) -> None:
    mine = [mutant for mutant in mutants() if mutant.component is component]
    words = counted(len(mine), "mutant")
    console.print(f"{noun(component)}: {words}; see: purgatory model break run NAME", style="bold")
    for mutant in mine:
        also = next((f" In TLA+: {each.name}." for each in counterparts_of(mutant)), "")
        _print_entry(console, mutant.name, mutant.rule, f"{mutant.summary}{also}")
    console.print()


def _as_object(mutant: Mutant) -> dict[str, object]:
    """Return a mutant for programs."""
    return {
        "name": mutant.name,
        "component": mutant.component,
        "rule": mutant.rule,
        "also": mutant.also,
        "summary": mutant.summary,
    }


def _seeded(wanted: list[Component]) -> Iterator[SeededDefect]:
    """Yield the defects planted in TLA+ whose property states a rule of a wanted component."""
    everything = len(wanted) == len(Component)
    prefixes = tuple(_PREFIXES[component] for component in wanted)
    for each in seeded_defects():
        if each.planted and (everything or any(rule.startswith(prefixes) for rule in each.rules)):
            yield each


def _print_seeded(console: Console, wanted: list[Component]) -> None:
    mine = list(_seeded(wanted))
    words = counted(len(mine), "defect")
    console.print(f"TLA+: {words}; see: purgatory tla explain NAME", style="bold")
    for each in mine:
        planted = f"{' and '.join(each.planted)} in {each.module}"
        _print_entry(console, each.name, each.fails, f"{each.summary} Planted: {planted}.")


def _print_entry(console: Console, name: str, breaks: str, words: str) -> None:
    """Print two lines: the name and the broken rule, then a sentence; names stay whole."""
    console.print(f"{name:<38}  {breaks}", markup=False)
    console.print(Padding(Text(printable(words)), (0, 0, 0, 4), expand=False))


_PREFIXES = {
    Component.TIMER: "TIMER-",
    Component.PURGATORY: "PURGATORY-",
    Component.MEMORY_POOL: "POOL-",
    Component.CHANNEL_MUTING: "MUTING-",
}


@break_.command("run")
@click.argument("name", default="")
@click.option("--all", "everything", is_flag=True, help="All mutants, or those of --component.")
@_COMPONENT
@click.option("--who-catches-it", is_flag=True, help="Ask rules, TLA+, vectors and generation.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the generated cases.")
@click.option(
    "--cases", type=click.IntRange(0), default=None, help="Generate no more cases than this."
)
@AS_JSON
@click.pass_context
def run(
    context: click.Context,
    name: str,
    everything: bool,
    component: str | None,
    who_catches_it: bool,
    seed: int,
    cases: int | None,
    as_json: bool,
) -> None:
    """Judge the mutant NAME: which rule catches it, and by which steps.

    Exits with 0 where the mutant is caught, 1 where no rule catches the mutant. Without a NAME: all
    mutants, one after another, which takes about 10 minutes.
    """
    if as_json and not name:
        raise click.UsageError("--json needs the NAME of one mutant")
    if name and (everything or component):
        raise click.UsageError("give either a NAME, or --all or --component, not both")
    budget = _BUDGET if cases is None else replace(_BUDGET, most_cases=cases, least_cases=cases)
    console = standard_output()
    if not name:
        chosen = [each for each in mutants() if component in (None, each.component.value)]
        context.exit(_run_all(console, chosen, seed, budget))
    mutant = _mutant(name)
    if not as_json:
        print_mutant(console, mutant)
    with CampaignProgress(console, name) as progress:
        caught = who_catches(
            mutant,
            seed=seed,
            budget=budget,
            vectors=vectors(mutant.component),
            progress=progress.update,
        )
    if as_json:
        print_json({"mutant": _as_object(mutant), "caught_by": answers(caught)})
    elif who_catches_it:
        print_who_catches(console, caught)
    else:
        print_shrunk(console, caught)
    context.exit(0 if caught.by_anybody else 1)


def _mutant(name: str) -> Mutant:
    """Return the mutant of this name; an unknown name is a usage error with the nearest names."""
    known = {each.name: each for each in mutants()}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, "see: purgatory model break list")
    if name in {each.name for each in seeded_defects()}:
        hint = f"it is planted in TLA+; see: purgatory tla explain {name}"
    raise click.UsageError(f"there is no mutant {name!r}; {hint}")


def _run_all(console: Console, chosen: list[Mutant], seed: int, budget: Budget) -> int:
    """Judge many mutants and say who catches each; the exit code says whether one escapes."""
    escaped: list[str] = []
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24, complete_style="blue", finished_style="blue"),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        task = progress.add_task("mutants", total=len(chosen))
        for mutant in chosen:
            progress.update(task, description=mutant.name)
            caught = who_catches(
                mutant, seed=seed, budget=budget, vectors=vectors(mutant.component)
            )
            sentence = "; ".join(f"{who}: {answer}" for who, answer in answers(caught).items())
            _print_entry(console, mutant.name, mutant.rule, sentence)
            if not caught.by_anybody:
                escaped.append(mutant.name)
            progress.advance(task)
    console.print(f"\n{counted(len(chosen), 'mutant')}: {_summary(escaped)}", markup=False)
    return 1 if escaped else 0


def _summary(escaped: list[str]) -> str:
    if not escaped:
        return "each is caught by vectors or by generated steps"
    return f"{', '.join(escaped)} caught by nobody"
