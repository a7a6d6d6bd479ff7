"""The command that judges a subject: one component after another, one report over all."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.checking import Check, hold_to_vectors, judged, keep, offered
from purgatory_conformance.commands.options import (
    COMMAND,
    RELEASE,
    WORK,
    ComponentName,
    known_rule,
    opened,
)
from purgatory_conformance.completion import complete_rule, complete_subject
from purgatory_conformance.describing.words import noun
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.results import Results, worst
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.running.campaign import SUITES
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule


@click.command()
@click.argument("subject", default="", shell_complete=complete_subject)
@click.option(
    "--component",
    "components",
    type=ComponentName(),
    multiple=True,
    help="Judge this alone; otherwise every component that is offered.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="ID",
    shell_complete=complete_rule,
    help="Judge coverage of these alone.",
)
@click.option("--suite", type=click.Choice(list(SUITES)), default="standard", show_default=True)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Another seed draws other cases."
)
@click.option(
    "--seconds",
    type=float,
    default=None,
    help="End each component after this time; otherwise a number of cases ends it.",
)
@click.option(
    "--without-deviations",
    is_flag=True,
    help="Judge as if none were declared: each is found, shrunk and kept as a replay file.",
)
@COMMAND
@RELEASE
@WORK
@click.pass_context
def check(
    context: click.Context,
    subject: str,
    components: tuple[str, ...],
    rules: tuple[str, ...],
    suite: str,
    seed: int,
    seconds: float | None,
    without_deviations: bool,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Judge SUBJECT: is it conformant?

    SUBJECT is a registered name (see: purgatory list subjects), a folder with a purgatory.toml, or
    module:factory. Without a SUBJECT: the purgatory.toml of this folder.

    The commands of a folder's purgatory.toml are run, the build among them, and a module is
    imported: name what you trust. The first line says which commands these are.
    """
    only = frozenset(known_rule(rule).id for rule in rules)
    wanted = _wanted(components, only)
    budget = SUITES[suite]
    if seconds is not None:
        budget = replace(budget, seconds=seconds)
    asked = opened(subject, command, work, release, tell=click.echo)
    if without_deviations:
        asked = replace(asked, deviations=(), replays=())
    console = standard_output()
    of_whom = Check(asked, suite, seed, work, only, budget)
    try:
        components = wanted or offered(asked)
        for component in components:
            hold_to_vectors(component)
        results = [_judged(of_whom, component, console) for component in components]
    finally:
        asked.subject.close()
    file, page = keep(of_whom, results)
    print_results(console, results, results_path=str(file), report_path=str(page))
    context.exit(worst(results).footer.exit_code)


def _wanted(components: Sequence[str], rules: Collection[str]) -> tuple[Component, ...]:
    """Return the components that are asked for, by their names or by rules; none means all."""
    of_rules = {component_of_rule(rule) for rule in rules}
    named = {Component(word) for word in components}
    if named and not of_rules <= named:
        other = min(of_rules - named)
        raise click.UsageError(f"a rule is one of the {noun(other)}, which is not to be judged")
    return tuple(each for each in Component if each in (of_rules or named))


def _judged(check: Check, component: Component, console: Console) -> Results:
    what = f"{check.opened.name}, {noun(component)}"
    with CampaignProgress(console, what) as progress:
        return judged(check, component, progress.update)
