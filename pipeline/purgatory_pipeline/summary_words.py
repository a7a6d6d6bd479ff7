"""How what a check found is put into words, the same at a terminal and on a page."""

from collections.abc import Mapping

from purgatory_conformance.reporting.words import counted, printable, shortened
from purgatory_pipeline.rows import QuarantineRow, Verdict, VerdictRow
from purgatory_pipeline.summary import Summary

VERDICT_SIGNS: Mapping[str, str] = {
    Verdict.CONFORMS.value: "✓",
    Verdict.DIVERGES.value: "✗",
    Verdict.INCOMPLETE.value: "…",
    Verdict.INCONCLUSIVE.value: "?",
}
"""The sign of each verdict; the word always stands beside it."""

HEADLINE_SIGNS: Mapping[int, str] = {0: "✓", 1: "✗", 4: "…"}
"""The sign of the whole, by the exit code."""

_MOST_LETTERS = 300


def grouped(number: int) -> str:
    """A number with its digits in groups of three."""
    return f"{number:,}"


def runs_of(number: int) -> str:
    """So many runs."""
    return f"{grouped(number)} {'run' if number == 1 else 'runs'}"


def lines_of(number: int) -> str:
    """So many lines."""
    return f"{grouped(number)} {'line' if number == 1 else 'lines'}"


def files_in(number: int) -> str:
    """So many files."""
    return f"{grouped(number)} {'file' if number == 1 else 'files'}"


def place_of_divergence(row: VerdictRow) -> str:
    """Where a run diverges: its name and number, then file and line."""
    return f"{printable(row.run)} seq {row.seq}, {printable(row.file)}:{row.line}"


def call_of(row: VerdictRow) -> str:
    """The call that diverges, and its thread; empty where the line is about no call."""
    where = f"in thread {row.thread}" if row.thread else ""
    return ", ".join(words for words in (row.operation, where) if words)


def place_of_line(row: QuarantineRow) -> str:
    """Where a line stands; the file alone where it is about the file."""
    return f"{printable(row.file)}:{row.line}" if row.line else printable(row.file)


def clipped(words: str) -> str:
    """Words that may come from anywhere, made fit to be shown."""
    return shortened(printable(words), _MOST_LETTERS)


def why(summary: Summary) -> str:
    """A sentence that says why the headline is what it is."""
    counts = summary.verdicts
    if not summary.runs:
        return "there is no run in the files"
    if counts[Verdict.DIVERGES.value]:
        causes = counted(len(summary.causes), "cause")
        return f"{runs_of(counts[Verdict.DIVERGES.value])} of {grouped(summary.runs)}, {causes}"
    if not summary.exit_code:
        return f"{runs_of(summary.runs)}, {lines_of(summary.events)}, each allowed by the rules"
    left = [
        f"{runs_of(counts[each.value])} {each.value}"
        for each in (Verdict.INCOMPLETE, Verdict.INCONCLUSIVE)
        if counts[each.value]
    ]
    if summary.quarantined:
        left.append(f"{lines_of(summary.quarantined)} set aside")
    return f"nothing diverges, but {' and '.join(left)}"
