"""Output of ``purgatory tla``: rows as they come, a progress line, a summary, a list."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from purgatory_conformance.reporting.terminal_page import line_of, print_indented
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.manifest.manifest import Model
from purgatory_tla.manifest.models import Agreement, Finding, expected_words

_SYMBOLS = {Agreement.AS_EXPECTED: "✓", Agreement.DIFFERS: "✗", Agreement.INCONCLUSIVE: "…"}
_IN_ASCII = {"✓": "+", "✗": "x", "…": "?"}
_STYLES = {Agreement.AS_EXPECTED: "#2a8fd6", Agreement.DIFFERS: "bold #d9720b"}
_WIDEST_OUTCOME = 34


class ModelTable:
    """The table of findings, printed row by row."""

    def __init__(self, console: Console, models: Sequence[Model]) -> None:
        """Prepare columns that are wide enough for the models."""
        self._console = console
        self._begun = False
        self._name = max(len("model"), *(len(model.name) for model in models))
        longest = max(len("expected"), *(len(expected_words(model)) for model in models))
        self._outcome = min(longest, _WIDEST_OUTCOME)

    def print_row(self, finding: Finding) -> None:
        """Print one finding, and below it what differs; above the first, the columns' names."""
        self._print_header()
        counts = finding.statistics
        states = "" if counts is None or counts.distinct is None else str(counts.distinct)
        seconds = "" if counts is None else f"{counts.seconds:.1f}"
        symbol = _SYMBOLS[finding.standing]
        if self._console.options.ascii_only:
            symbol = _IN_ASCII[symbol]
        expected, found = finding.wanted, finding.found
        line = self._line(
            symbol, finding.model.name, expected, found, states, seconds, finding.tool
        )
        style = "" if self._console.no_color else _STYLES.get(finding.standing, "")
        self._print(line, style if finding.standing is not Agreement.AS_EXPECTED else "")
        for difference in finding.differences:
            self._print(f"    {finding.standing.value}: {difference}", style)

    def print_summary(self, findings: Sequence[Finding]) -> None:
        """Print how many there are of each standing, in words."""
        counts = Counter(finding.standing for finding in findings)
        words = [f"{counts[each]} {each.value}" for each in Agreement if counts[each]]
        total = f"{len(findings)} model{'s' if len(findings) != 1 else ''}"
        self._print(f"\n{total}: {', '.join(words)}", "")

    def _print_header(self) -> None:
        if not self._begun:
            self._begun = True
            style = "" if self._console.no_color else "bold"
            names = ("model", "expected", "found", "states", "seconds", "tool")
            self._print(self._line(" ", *names), style)

    def _line(
        self,
        symbol: str,
        name: str,
        expected: str,
        found: str,
        states: str,
        seconds: str,
        tool: str,
    ) -> str:
        told = "as expected" if found == expected else found
        outcome = f"<{self._outcome}"
        return line_of(
            self._console,
            (f"{symbol} {name}", expected, told, states, seconds, tool),
            (f"<{self._name + 2}", outcome, outcome, ">9", ">7", "<1"),
        )

    def _print(self, line: str, style: str) -> None:
        self._console.print(Text(line, style), no_wrap=True, overflow="ignore", crop=False)


class ProgressLine:
    """A line that shows the running models; hidden where the output is no terminal."""

    def __init__(self, bar: Bar, task: TaskID) -> None:
        """Take the bar to write to."""
        self._bar = bar
        self._task = task

    def told(self, model: Model, progress: Progress | None) -> None:
        """Take in that a model has begun, or how far it is."""
        states = "" if progress is None else f", {progress.generated} states"
        self._bar.update(self._task, words=f"{model.name}{states}")

    def finished(self) -> None:
        """Count a model as finished on the bar."""
        self._bar.advance(self._task)


@contextmanager
def progress_line(console: Console, models: int) -> Iterator[ProgressLine]:
    """Show a line at the bottom while the body runs."""
    bar = Bar(
        BarColumn(bar_width=24, complete_style="blue", finished_style="blue"),
        TextColumn("{task.completed:.0f} of {task.total:.0f} done"),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        yield ProgressLine(bar, bar.add_task("", total=models, words=""))


def print_list(console: Console, models: Sequence[Model]) -> None:
    """Print every model: name, kind, run time, what a run must find, and below it the title."""
    for model in models:
        facts = f"{model.kind.value}, {model.run_time.value}: {expected_words(model)}"
        console.print(f"[bold]{model.name}[/bold]  {facts}")
        print_indented(console, model.title, 4)
