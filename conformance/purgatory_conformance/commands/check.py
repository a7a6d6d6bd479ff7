"""The command that judges a subject: one component after another, one report over all."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.command_line import EXIT_CONTRADICTED, Problem
from purgatory_conformance.commands.options import (
    COMMAND,
    RELEASE,
    WORK,
    ComponentName,
    known_rule,
    opened,
)
from purgatory_conformance.components import PROFILES
from purgatory_conformance.describing.words import noun
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.results import Results, results_of, worst
from purgatory_conformance.reporting.results_file import write_results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.running.campaign import SUITES, Budget, Campaign, run_campaign
from purgatory_conformance.running.golden_vectors import contradictions
from purgatory_conformance.running.replay_file import plain, write_replay
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import SubjectFailure, profile_of
from purgatory_conformance.version import PACKAGE_VERSION, SUITE_VERSION
from purgatory_spec.messages import Implementation, schema_digest
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule


@dataclass(frozen=True)
class _Check:
    """The subject to judge, the budget and seed of the campaign, and the folder for its reports."""

    opened: OpenSubject
    suite: str
    budget: Budget
    seed: int
    rules: frozenset[str]
    folder: Path


@click.command()
@click.argument("subject", default="")
@click.option(
    "--component",
    "components",
    type=ComponentName(),
    multiple=True,
    help="Judge this alone; otherwise every component that is offered.",
)
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Judge coverage of these alone.")
@click.option("--suite", type=click.Choice(list(SUITES)), default="standard", show_default=True)
@click.option("--seed", type=int, default=None, help="Equal seeds give equal cases.")
@click.option("--seconds", type=float, default=None, help="Time for generated cases.")
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
    seed: int | None,
    seconds: float | None,
    without_deviations: bool,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Judge SUBJECT: is it conformant?

    SUBJECT is a registered name (see: purgatory list subjects), a folder with a purgatory.toml, or
    module:factory. Without a SUBJECT: the purgatory.toml of this folder, or else the bundled
    implementation.
    """
    wanted = _wanted(components, rules)
    budget = SUITES[suite]
    if seconds is not None:
        budget = replace(budget, seconds=seconds)
    seed = random.randrange(2**31) if seed is None else seed
    asked = opened(subject, command, work, release)
    if without_deviations:
        asked = replace(asked, deviations=(), replays=())
    folder = work / plain(asked.name)
    console = Console()
    of_whom = _Check(asked, suite, budget, seed, frozenset(rules), folder)
    try:
        judged = wanted or _offered(asked)
        for component in judged:
            _hold_to_vectors(component)
        results = [_judged(of_whom, component, console) for component in judged]
    finally:
        asked.subject.close()
    write_results(results, folder / "results.jsonl")
    page = folder / "report.html"
    page.write_text(render_html(results), encoding="utf-8")
    print_results(
        console, results, results_path=str(folder / "results.jsonl"), report_path=str(page)
    )
    context.exit(worst(results).footer.exit_code)


def _wanted(components: Sequence[str], rules: Sequence[str]) -> tuple[Component, ...]:
    """The components that are asked for, by their names or by rules; none means all."""
    for rule in rules:
        known_rule(rule)
    of_rules = {component_of_rule(rule) for rule in rules}
    named = {Component(word) for word in components}
    if named and not of_rules <= named:
        other = min(of_rules - named)
        raise click.UsageError(f"a rule is one of the {noun(other)}, which is not to be judged")
    return tuple(each for each in Component if each in (of_rules or named))


def _offered(asked: OpenSubject) -> tuple[Component, ...]:
    """The components that the subject offers; where it cannot be asked, the first of all."""
    try:
        return tuple(each for each in Component if each in asked.subject.profiles)
    except SubjectFailure:
        return (Component.TIMER,)


def _hold_to_vectors(component: Component) -> None:
    """Hold the model of a component to the golden vectors.

    Raises:
        Problem: the model contradicts a vector, so that nobody may be judged by it.
    """
    contradiction = next(contradictions(vectors(component)), None)
    if contradiction is not None:
        raise Problem(str(contradiction), EXIT_CONTRADICTED)


def _judged(check: _Check, component: Component, console: Console) -> Results:
    asked = check.opened
    what = f"{asked.name}, {noun(component)}"
    with CampaignProgress(console, what, check.budget) as progress:
        campaign = run_campaign(
            asked.subject,
            component,
            seed=check.seed,
            budget=check.budget,
            vectors=vectors(component),
            deviations=tuple(
                each for each in asked.deviations if component_of_rule(each.rule) is component
            ),
            replays=tuple(
                (rule, case) for rule, case in asked.replays if component_of_rule(rule) is component
            ),
            only_rules=check.rules,
            progress=progress.update,
        )
    return _results(check, campaign)


def _results(check: _Check, campaign: Campaign) -> Results:
    """What was found; the replay file of each cause is written."""
    opened, component = check.opened, campaign.component
    try:
        implementation = opened.subject.implementation
        profile = profile_of(opened.subject, component)
    except SubjectFailure:
        implementation, profile = Implementation(name=opened.name), PROFILES[component]()
    folder = check.folder / "replays"
    replays = {
        index: str(write_replay(folder, cause.shrunk, cause.rule, opened, profile))
        for index, cause in enumerate(campaign.causes)
    }
    return results_of(
        campaign,
        subject=opened.name,
        implementation=implementation,
        profile=profile,
        suite=check.suite,
        suite_version=SUITE_VERSION,
        schema=schema_digest(),
        replays=replays,
        package_version=PACKAGE_VERSION,
    )
