"""Words for a check's findings, the same at a terminal and on a page."""

from collections.abc import Mapping

from purgatory_conformance.describing.words import counted, joined, noun, printable, shortened
from purgatory_traces.results.rows import QuarantineRow, RunVerdict, VerdictRow
from purgatory_traces.summary.summary import Summary
from purgatory_traces.traces.sources import SUFFIXES

VERDICT_SIGNS: Mapping[str, str] = {
    RunVerdict.CONFORMS.value: "✓",
    RunVerdict.DIVERGES.value: "✗",
    RunVerdict.INCOMPLETE.value: "…",
    RunVerdict.INCONCLUSIVE.value: "?",
}
"""The sign of each verdict; the word always stands beside it."""

HEADLINE_SIGNS: Mapping[int, str] = {0: "✓", 1: "✗", 4: "…"}
"""The sign of the whole, by the exit code."""

UNITS = "Times are in milliseconds, on the clock of the run."
"""The note beside lines that tell of times."""

_MOST_LETTERS = 300


def grouped(number: int) -> str:
    """Return a number with its digits in groups of three."""
    return f"{number:,}"


def runs_of(number: int) -> str:
    """Return a number of runs in words."""
    return f"{grouped(number)} {'run' if number == 1 else 'runs'}"


def lines_of(number: int) -> str:
    """Return a number of lines in words."""
    return f"{grouped(number)} {'line' if number == 1 else 'lines'}"


def files_in(number: int) -> str:
    """Return a number of files in words."""
    return f"{grouped(number)} {'file' if number == 1 else 'files'}"


def set_aside(summary: Summary) -> str:
    """Return the numbers of unusable lines and files in words; empty without any."""
    lines, files = summary.lines_aside, summary.files_aside
    words = [lines_of(lines)] if lines else []
    return " and ".join([*words, files_in(files)] if files else words)


def so_many(row: QuarantineRow, number: int) -> str:
    """Return a number of lines, or of files for a row about a file, in words."""
    return lines_of(number) if row.is_of_a_line else files_in(number)


def place_of_divergence(row: VerdictRow) -> str:
    """Return the place where a run diverges: its name and number, then file and line."""
    return f"{printable(row.run)} seq {row.seq}, {printable(row.file)}:{row.line}"


def call_of(row: VerdictRow) -> str:
    """Return the call that diverges, and its thread; empty where the line is about no call."""
    where = f"in thread {row.thread}" if row.thread else ""
    return ", ".join(words for words in (row.operation, where) if words)


def place_of_line(row: QuarantineRow) -> str:
    """Return the place of a line, then run and number; the file alone for a row about a file."""
    place = printable(row.file)
    place = f"{place}:{row.line}" if row.is_of_a_line else place
    return place if row.seq is None else f"{place} (run {printable(row.run)}, seq {row.seq})"


def clipped(words: str) -> str:
    """Return words of any origin, made fit to be shown."""
    return shortened(printable(words), _MOST_LETTERS)


def why(summary: Summary) -> str:
    """Return a sentence that gives the reason for the headline."""
    counts = summary.verdicts
    if not summary.runs:
        return _why_no_run(summary)
    if counts[RunVerdict.DIVERGES.value]:
        causes = counted(len(summary.causes), "cause")
        return f"{runs_of(counts[RunVerdict.DIVERGES.value])} of {grouped(summary.runs)}, {causes}"
    if not summary.exit_code:
        return f"{runs_of(summary.runs)}, {lines_of(summary.events)}, each allowed by the rules"
    left = [
        f"{runs_of(counts[each.value])} {each.value}"
        for each in (RunVerdict.INCOMPLETE, RunVerdict.INCONCLUSIVE)
        if counts[each.value]
    ]
    if aside := set_aside(summary):
        left.append(f"{aside} set aside")
    words = [", ".join(left)] if left else []
    if untested := [f"the {noun(each)}" for each in summary.untested]:
        words.append(f"no rule of {joined(untested)} was put to the test")
    if summary.too_short:
        words.append(
            f"no run went on long enough to show that an expiry is missing "
            f"({joined(summary.too_short)}): let runs go on after their last deadlines for the "
            f"lateness that they declare, or declare a smaller one"
        )
    return f"nothing diverges, but {'; '.join(words)}"


def not_judgeable(summary: Summary) -> str:
    """Return the open parts of the runs, in words; empty without any."""
    pending, calls = summary.pending_expiries, summary.open_calls
    words = []
    if pending:
        awaited = "expiry was" if pending == 1 else "expiries were"
        words.append(f"{grouped(pending)} {awaited} not overdue yet")
    if calls:
        words.append(f"{grouped(calls)} {'call was' if calls == 1 else 'calls were'} open")
    for observable, runs in sorted(summary.uncompared.items()):
        words.append(f"{observable} was not compared in {runs_of(runs)}")
    return ", ".join(words)


def _why_no_run(summary: Summary) -> str:
    aside = set_aside(summary)
    if aside:
        return f"there is no run in the files, but {aside} that could not be used"
    return f"there is no file whose name ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
