"""Measures what finds the bugs that people reported, and writes the page of them.

    python -m purgatory_lab.museum --write docs
    python -m purgatory_lab.museum --only netty --write docs

The second one measures only wrong subjects whose name or report contains the word. Findings are
stored in ``reference/results/bugs-that-people-had.json``, from which the page follows.
"""

from pathlib import Path

import click

from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_lab.museum.page import (
    REGION,
    measured,
    museum,
    read_findings,
    tables,
    write_findings,
)


@click.command()
@click.option("--only", "words", multiple=True, help="A part of names or reports; all else.")
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(words: tuple[str, ...], write: Path | None) -> None:
    """Measure, print a line for each bug, and with --write store and write the page."""
    stored = write / "reference" / "results" / "bugs-that-people-had.json" if write else None
    known = read_findings(stored) if stored is not None and stored.is_file() else {}
    findings = {each.name: known[each.name] for each in museum() if each.name in known}
    for mutant in museum():
        told = f"{mutant.name} {mutant.report}"
        if words and not any(word in told for word in words):
            continue
        finding = findings[mutant.name] = measured(mutant)
        blame = "" if finding.rule in (mutant.rule, *mutant.also) else f", not {mutant.rule}"
        click.echo(f"{told}: {finding.cases}, {finding.rule}{blame}, {len(finding.steps)} steps")
        if stored is not None:
            write_findings(stored, findings)
    if write is not None:
        page = write / "reference" / "bugs-that-people-had.md"
        write_between_marks(page, REGION, tables(findings))


if __name__ == "__main__":
    main()
