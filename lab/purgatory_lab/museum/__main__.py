"""Measures what finds the bugs that people reported, and writes the page of them.

    python -m purgatory_lab.museum --write docs
    python -m purgatory_lab.museum --only netty --write docs

The second one measures only wrong subjects whose name or report contains the word. Findings are
stored in ``reference/results/bugs-that-people-had.json``, from which the page follows.
"""

from pathlib import Path

import click

from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_lab.documents import read_document, write_in_lines
from purgatory_lab.museum.page import (
    REGION,
    THREADS,
    Finding,
    Scheduled,
    measured,
    museum,
    searched,
    tables,
)
from purgatory_lab.museum.threads import THREADED


@click.command()
@click.option("--only", "words", multiple=True, help="A part of names or reports; all else.")
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(words: tuple[str, ...], write: Path | None) -> None:
    """Measure, print a line for each bug, and with --write store and write the page."""
    stored = write / "reference" / "results" / "bugs-that-people-had.json" if write else None
    known = read_document(stored, dict[str, Finding]) if stored and stored.is_file() else {}
    findings = {each.name: known[each.name] for each in museum() if each.name in known}
    for mutant in museum():
        told = f"{mutant.name} {mutant.report}"
        if words and not any(word in told for word in words):
            continue
        finding = findings[mutant.name] = measured(mutant)
        blame = "" if finding.rule in (mutant.rule, *mutant.also) else f", not {mutant.rule}"
        click.echo(f"{told}: {finding.cases}, {finding.rule}{blame}, {len(finding.steps)} steps")
        if stored is not None:
            write_in_lines(stored, dict(sorted(findings.items())))
    scheduled = _schedules(words, write / "reference" / "results" / THREADS if write else None)
    if write is not None:
        page = write / "reference" / "bugs-that-people-had.md"
        write_between_marks(page, REGION, tables(findings, scheduled))


def _schedules(words: tuple[str, ...], stored: Path | None) -> dict[str, Scheduled]:
    """Search for the schedules of bugs between threads; return those and the ones known before."""
    known = read_document(stored, dict[str, Scheduled]) if stored and stored.is_file() else {}
    findings = {each.name: known[each.name] for each in THREADED if each.name in known}
    for bug in THREADED:
        told = f"{bug.name} {bug.report}"
        if words and not any(word in told for word in words):
            continue
        finding = searched(bug.word)
        if finding is None:
            click.echo(f"{told}: no schedule")
            continue
        findings[bug.name] = finding
        click.echo(f"{told}: {finding.schedules} schedules, {finding.rule}, {finding.program}")
    if stored is not None:
        write_in_lines(stored, dict(sorted(findings.items())))
    return findings


if __name__ == "__main__":
    main()
