"""The commands about declared deviations: have them proposed, and hold them to the subject."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
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
from purgatory_conformance.describing.words import counted, noun
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.results import Results, quoted, worst
from purgatory_conformance.reporting.terminal_page import print_columns, standard_output
from purgatory_conformance.running.campaign import SUITES, Campaign
from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.running.joint_deviations import explained
from purgatory_conformance.running.replay_file import write_replay
from purgatory_conformance.subjects.declaration import declaration_of
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_judge.case_judge import Deviation
from purgatory_spec.cases import read_case
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule

_MOST_ROUNDS = 8
"""The most judgements of the subject with the proposals so far: one fault may hide another."""

_SUITE = click.option(
    "--suite", type=click.Choice(list(SUITES)), default="quick", show_default=True
)
_SEED = click.option("--seed", type=int, default=1, show_default=True, help="Of the cases.")


@click.group()
def deviations() -> None:
    """Propose declarations of the rules that a subject breaks, or verify those it has."""


@deviations.command()
@click.argument("subject", default="", shell_complete=complete_subject)
@click.option("--write", is_flag=True, help="Append the blocks to the subject's declaration.")
@_SUITE
@_SEED
@COMMAND
@RELEASE
@WORK
@click.pass_context
def propose(
    context: click.Context,
    subject: str,
    write: bool,
    suite: str,
    seed: int,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Judge SUBJECT, and write a [[deviation]] block for each variant that explains its faults.

    The fewest variants are taken that together explain the failing cases. With these declared the
    subject is judged again, until no other set explains more. Exits with 0 if the subject is
    conformant then, otherwise as check.
    """
    declaration = declaration_of(subject)
    if write and (command or declaration is None):
        raise click.UsageError("--write needs a SUBJECT with a purgatory.toml to append to")
    asked = opened(subject, command, work, release)
    check = Check(asked, suite, seed, work)
    console = Console(stderr=True, highlight=False)
    try:
        proposals, results = _proposed(check, console)
    finally:
        asked.subject.close()
    table = "deviation"
    if declaration is not None and declaration.name == "pyproject.toml":
        table = "tool.purgatory.deviation"
    folder = Path() if declaration is None else declaration.parent
    blocks = [_block(each, table, folder, copy=write) for each in proposals]
    click.echo("\n".join(blocks), nl=False)
    if write and declaration is not None and blocks:
        with declaration.open("a", encoding="utf-8") as file:
            file.write("".join(f"\n{block}" for block in blocks))
        console.print(f"{counted(len(blocks), 'block')} appended to {declaration}", markup=False)
    _say_what_stays(console, results, len(proposals))
    context.exit(worst(results).footer.exit_code)


def _proposed(check: Check, console: Console) -> tuple[list[Deviation], list[Results]]:
    """Return the deviations to declare, and the last round's results with those declared."""
    found: list[Deviation] = []
    results: list[Results] = []
    for component in offered(check.opened):
        hold_to_vectors(component)
        proposals, about = _proposed_for(check, component, console)
        found += proposals
        results.append(about)
    return found, results


def _proposed_for(
    check: Check, component: Component, console: Console
) -> tuple[list[Deviation], Results]:
    """Return the deviations of one component; see ``_proposed``.

    The cases of every round are explained together: what is found later may change what explains
    the cases that were found first.
    """
    fresh: list[Deviation] = []
    failing: list[CaseRun] = []
    for _ in range(_MOST_ROUNDS):
        proposals = fresh
        declared = replace(check, opened=_with(check.opened, proposals))
        campaign = _campaign(declared, component, console)
        for cause in campaign.causes:
            failing += [cause.shrunk, *cause.runs] if cause.steady else []
        fresh = _explained(check, component, failing)
        judged_with = {(each.rule, each.variant) for each in proposals}
        if not campaign.causes or {(each.rule, each.variant) for each in fresh} == judged_with:
            break
    return proposals, results_in(check, campaign, check.folder)


def _campaign(check: Check, component: Component, console: Console) -> Campaign:
    what = f"{check.opened.name}, {noun(component)}"
    with CampaignProgress(console, what) as progress:
        return campaign_of(check, component, progress.update)


def _with(asked: OpenSubject, found: Sequence[Deviation]) -> OpenSubject:
    """Return the subject as if these deviations were declared, too."""
    return replace(
        asked,
        deviations=(*asked.deviations, *found),
        replays=(*asked.replays, *((each.rule, read_case(Path(each.replay))) for each in found)),
    )


def _explained(check: Check, component: Component, failing: Sequence[CaseRun]) -> list[Deviation]:
    """Return the deviations that explain failing cases together, their replay files written."""
    asked, folder = check.opened, check.folder / "deviations"
    declared = tuple(each for each in asked.deviations if component_of_rule(each.rule) is component)
    found = explained(asked.subject, component, failing, declared)
    proposals = []
    for each in found:
        profile = asked.subject.profiles[component]
        path = write_replay(folder, each.run, each.deviation.rule, asked, profile)
        proposals.append(replace(each.deviation, replay=str(path)))
    return proposals


def _block(deviation: Deviation, table: str, folder: Path, *, copy: bool) -> str:
    """Return the TOML block for a declaration's folder; copy its replay file there if wanted."""
    replay = Path(deviation.replay)
    if copy:
        kept = folder / "deviations" / replay.name
        kept.parent.mkdir(exist_ok=True)
        replay = Path(shutil.copyfile(replay, kept))
    replay = Path(os.path.relpath(replay, folder))
    return (
        f"[[{table}]]\nrule = {quoted(deviation.rule)}\nvariant = {quoted(deviation.variant)}\n"
        f'replay = {quoted(replay.as_posix())}\nreason = {quoted(deviation.reason)}\nissue = ""\n'
    )


def _say_what_stays(console: Console, results: Sequence[Results], proposed: int) -> None:
    for each in results:
        for cause in each.causes:
            told = f"not explained by any variant: {cause.rule}, {cause.replay}"
            console.print(told, markup=False, soft_wrap=True)
            for hint in cause.hints:
                console.print(f"  hint: {hint.words}: {hint.paste}", markup=False, soft_wrap=True)
        with_them = " with what is proposed" if proposed else ""
        console.print(
            f"{each.footer.symbol} {noun(each.component)}{with_them}: {each.footer.verdict}",
            markup=False,
        )


@dataclass(frozen=True)
class _Verified:
    """The result for a declared deviation, in words, and whether it may stay as it is."""

    deviation: Deviation
    words: str
    may_stay: bool


@deviations.command()
@click.argument("subject", default="", shell_complete=complete_subject)
@_SUITE
@_SEED
@RELEASE
@WORK
@click.pass_context
def verify(
    context: click.Context, subject: str, suite: str, seed: int, release: str, work: Path
) -> None:
    """Say of each deviation that SUBJECT declares whether it is needed, and whether it is enough.

    A deviation is no longer needed where its replay file passes, and no longer enough where cases
    break its rule otherwise than its variant does. Exits with 0 if all may stay as they are and
    the components that they are of are conformant with them, otherwise as check does.
    """
    asked = opened(subject, "", work, release)
    console = standard_output()
    check = Check(asked, suite, seed, work)
    if not asked.deviations:
        asked.subject.close()
        console.print(f"{asked.name} declares no deviation", markup=False)
        return
    concerned = {component_of_rule(each.rule) for each in asked.deviations}
    try:
        results = []
        for component in [each for each in Component if each in concerned]:
            hold_to_vectors(component)
            campaign = _campaign(check, component, console)
            results.append(results_in(check, campaign, check.folder))
        if any(each.failures for each in results):
            console.print(f"! {worst(results).footer.why}", markup=False)
            context.exit(EXIT_SUBJECT_FAILED)
        verified = [_verified(asked, each, results) for each in asked.deviations]
    finally:
        asked.subject.close()
    _print_verified(console, verified)
    declared = {each.rule for each in asked.deviations}
    for about in results:
        for cause in about.causes:
            if cause.rule not in declared:
                console.print(
                    f"✗ not declared: {cause.rule}, {cause.replay}", markup=False, soft_wrap=True
                )
    code = worst(results).footer.exit_code
    context.exit(code or (0 if all(each.may_stay for each in verified) else 1))


def _verified(asked: OpenSubject, deviation: Deviation, results: Sequence[Results]) -> _Verified:
    case = dict(asked.replays)[deviation.rule]
    run = run_case(asked.subject, case.header.case, case.header.configuration, case.operations)
    if run.divergence is None:
        words = f"no longer needed: {deviation.replay} passes"
        return _Verified(deviation, words, may_stay=False)
    if run.divergence.rule != deviation.rule:
        words = f"another fault: {deviation.replay} breaks {run.divergence.rule}"
        return _Verified(deviation, words, may_stay=False)
    beyond = [cause for each in results for cause in each.causes if cause.rule == deviation.rule]
    if beyond:
        cases = counted(sum(cause.cases for cause in beyond), "case")
        words = f"no longer enough: {cases} beyond the variant, {beyond[0].replay}"
        return _Verified(deviation, words, may_stay=False)
    lines = [line for each in results for line in each.deviations if line.rule == deviation.rule]
    shown = counted(sum(line.cases for line in lines), "case")
    return _Verified(deviation, f"still needed: shown by {shown}", may_stay=True)


def _print_verified(console: Console, verified: Sequence[_Verified]) -> None:
    rows = (
        ("✓" if each.may_stay else "✗", each.deviation.rule, each.deviation.variant, each.words)
        for each in verified
    )
    print_columns(console, ("", "rule", "variant", "verified"), rows)
