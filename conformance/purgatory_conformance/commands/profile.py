"""The command that finds out which choices a subject has made, and writes its profile."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec
from rich.console import Console

from purgatory_conformance.checking import (
    Check,
    campaign_of,
    hold_to_vectors,
    offered,
    results_in,
)
from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK, opened
from purgatory_conformance.completion import complete_subject
from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import noun, printable
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.results import Results, worst
from purgatory_conformance.running.campaign import SUITES
from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.running.profile_changes import Cost
from purgatory_conformance.running.profile_proposals import Evidence, Proposal, proposal
from purgatory_conformance.running.replay_file import write_replay
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_conformance.whole_files import write_whole
from purgatory_spec.profiles import Component, Profile
from purgatory_spec.requirements import component_of_rule

_MOST_ROUNDS = 4
"""The most judgements by a whole suite of the subject with the profile that is proposed."""

_WIDTH = 96
"""The columns of a comment."""


@click.group()
def profile() -> None:
    """Have the profile proposed that a subject needs."""


@profile.command()
@click.argument("subject", default="", shell_complete=complete_subject)
@click.option("--suite", type=click.Choice(list(SUITES)), default="quick", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the cases.")
@COMMAND
@RELEASE
@WORK
@click.pass_context
def propose(
    context: click.Context,
    subject: str,
    suite: str,
    seed: int,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Find the choices of SUBJECT, and write the profile that declares them.

    The fewest changes of what it declares are taken that together explain its failing cases; each
    line has a comment with the rule that is broken without it, and the case that shows this. What
    makes the suite judge less is taken last, and only where nothing else explains a case. Exits
    with 0 if the subject is conformant with the profile, otherwise as check.
    """
    asked = opened(subject, command, work, release)
    check = Check(asked, suite, seed, work)
    console = Console(stderr=True, highlight=False)
    try:
        written = [_written(check, component, console) for component in offered(asked)]
    finally:
        asked.subject.close()
    document = "{\n" + ",\n".join(each.words for each in written) + "\n}\n"
    file = check.folder / "profile.jsonc"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, document.encode())
    click.echo(document, nl=False)
    for each in written:
        _say_what_stays(console, each.results)
    console.print(f"written to {file}", markup=False, soft_wrap=True)
    context.exit(worst([each.results for each in written]).footer.exit_code)


@dataclass(frozen=True)
class _Written:
    """The profile of a component as JSON with comments, and the results with it declared."""

    words: str
    results: Results


def _written(check: Check, component: Component, console: Console) -> _Written:
    """Return the proposed profile of a component, held to a whole suite."""
    hold_to_vectors(component)
    asked = check.opened
    deviations = tuple(
        each for each in asked.deviations if component_of_rule(each.rule) is component
    )
    known: list[CaseRun] = []
    for _ in range(_MOST_ROUNDS):
        found = proposal(
            asked.subject,
            component,
            seed=check.seed,
            budget=check.limits,
            deviations=deviations,
            failing=known,
        )
        declared = replace(asked, subject=DeclaredAs(asked.subject, found.profile))
        tried = replace(check, opened=declared)
        with CampaignProgress(console, f"{asked.name}, {noun(component)}") as progress:
            campaign = campaign_of(tried, component, progress.update)
        more = [cause.shrunk for cause in campaign.causes if cause.steady]
        if not more or found.unexplained:
            break
        known += more
    results = results_in(tried, campaign, check.folder)
    return _Written(_document(check, component, found), results)


def _document(check: Check, component: Component, found: Proposal) -> str:
    """Return a component's profile as JSON with comments."""
    own = check.opened.subject.profiles[component]
    evidence = {(each.change.name, each.change.withdraws): each for each in found.evidence}
    lines = [f'  "{component.value}": {{']
    for name, value in _declared(own, found.profile):
        of_line = [each for (field, _), each in evidence.items() if field == name]
        for each in of_line:
            lines += _comment(check, found.profile, each)
        lines.append(f'    "{name}": {msgspec.json.encode(value).decode()},')
    lines[-1] = lines[-1].removesuffix(",")
    return "\n".join([*lines, "  }"])


def _declared(own: Profile, found: Profile) -> Iterator[tuple[str, object]]:
    """Yield the fields of a profile that are no defaults, or have been declared otherwise."""
    default = type(found)()
    for name in found.__struct_fields__:
        value = getattr(found, name)
        if value != getattr(default, name) or value != getattr(own, name):
            built = msgspec.to_builtins(value)
            yield name, sorted(built) if isinstance(built, list) else built


def _comment(check: Check, profile: Profile, evidence: Evidence) -> Iterator[str]:
    """Yield the lines of a comment: the rule that is broken otherwise, and by which steps."""
    path = write_replay(
        check.folder / "profile", evidence.run, evidence.rule, check.opened, profile
    )
    change = evidence.change
    steps = "; ".join(describe_operation(step.operation) for step in evidence.run.steps)
    words = f"{change.words}: otherwise {evidence.rule} is broken by: {printable(steps)} ({path})"
    if change.cost is not Cost.NOTHING:
        words += "; declare it only if your documentation promises it: the suite then judges less"
    for line in textwrap.wrap(words, _WIDTH - 7, break_long_words=False, break_on_hyphens=False):
        yield f"    // {line}"


def _say_what_stays(console: Console, results: Results) -> None:
    for cause in results.causes:
        told = f"not explained by any choice: {cause.rule}, {cause.replay}"
        console.print(told, markup=False, soft_wrap=True)
    console.print(
        f"{results.footer.symbol} {noun(results.component)} with this profile: "
        f"{results.footer.verdict}",
        markup=False,
    )
