"""Judges other people's systems, stores the verdicts, and writes the table of the findings.

    python -m purgatory_lab.verdicts --write docs
    python -m purgatory_lab.verdicts --system netty --system agrona --write docs

The second one leaves the other rows as they are. The verdicts are stored in
``reference/results/verdicts.json``, from which the table in ``findings.md`` follows. A system that
cannot be fetched or built has a row that says so, and takes no other row with it.
"""

import subprocess
import sys
from pathlib import Path

import click

from purgatory_conformance.commands.options import WORK
from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_conformance.reporting.results_file import read_results
from purgatory_lab.documents import write_in_lines
from purgatory_lab.verdicts.table import (
    REGION,
    SYSTEMS,
    SystemVerdict,
    check_words,
    in_order,
    read_verdicts,
    system_verdict,
    table_text,
)

_SECONDS = 1800.0


def judged(word: str, work: Path) -> SystemVerdict:
    """Judge a system in a process of its own, as the command of its row does."""
    program = Path(sys.executable).parent / "purgatory"
    results = work / word.partition("@")[0] / "results.jsonl"
    results.unlink(missing_ok=True)
    finished = subprocess.run(
        [str(program), *check_words(word)[1:], "--work", str(work)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if not results.is_file():
        said = finished.stderr.strip().splitlines() or [f"exit code {finished.returncode}"]
        return SystemVerdict(word, problem=said[0].removeprefix("purgatory: "))
    return system_verdict(word, read_results(results))


@click.command()
@click.option(
    "--system", "words", type=click.Choice(list(SYSTEMS)), multiple=True, help="All else."
)
@WORK
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(words: tuple[str, ...], work: Path, write: Path | None) -> None:
    """Judge systems, print their rows, and with --write store them and write the table."""
    verdicts = read_verdicts(_stored(write)) if write else {}
    for word in words or SYSTEMS:
        verdicts[word] = judged(word, work)
        rows = table_text([verdicts[word]]).splitlines()[2:]
        click.echo("\n".join(row for row in rows if row.startswith("|")))
        if write:  # after each system, so that an interrupted run has not been in vain
            everyone = in_order(verdicts)
            write_in_lines(_stored(write), everyone)
            write_between_marks(write / "findings.md", REGION, table_text(everyone))


def _stored(docs: Path) -> Path:
    return docs / "reference" / "results" / "verdicts.json"


if __name__ == "__main__":
    main()
