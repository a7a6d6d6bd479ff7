"""The page of the documentation: tables between marks, and plots beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from purgatory_bench.bench.figures import Figures
from purgatory_bench.bench.measure_tables import measure_tables
from purgatory_bench.bench.plots import draw_plots
from purgatory_bench.bench.report import circumstances, goals_text
from purgatory_bench.bench.results import Results
from purgatory_bench.bench.workload_tables import workload_tables
from purgatory_conformance.command_line import EXIT_USAGE, Problem
from purgatory_conformance.reporting.marked_pages import between_marks

PAGE: Final = Path("reference") / "performance.md"
PLOTS: Final = Path("assets") / "performance"


def publish(docs: Path, files: Sequence[Results]) -> list[Path]:
    """Write what files tell into the folder of the site; a kind that is not there stays as it was.

    The table of goals is of these files alone, so that all files belong into one call.

    Args:
        docs: Folder of the site.
        files: What was measured.

    Returns:
        The files that were written.

    Raises:
        Problem: the page is not there, or lacks a mark.
        MissingExtra: matplotlib is not installed.
    """
    page = docs / PAGE
    if not page.is_file():
        raise Problem(f"{docs} has no page {PAGE.as_posix()}", EXIT_USAGE)
    text = page.read_text(encoding="utf-8")
    drawn = draw_plots(files, docs / PLOTS)
    figures = Figures(files)
    try:
        text = between_marks(text, "goals", f"{goals_text(files)}\n\n{circumstances(files)}")
        for region, found in (
            ("measures", measure_tables(figures)),
            ("workload", workload_tables(figures)),
        ):
            if found:
                text = between_marks(text, region, _with_plots(found, drawn[region]))
    except ValueError as problem:
        raise Problem(f"{page} {problem}", EXIT_USAGE) from None
    page.write_text(text, encoding="utf-8")
    return [page, *(plot for plots in drawn.values() for plot in plots)]


def _with_plots(text: str, plots: Sequence[Path]) -> str:
    shown = [f"![{plot.stem}](../{PLOTS.as_posix()}/{plot.name})" for plot in plots]
    return "\n\n".join([*shown, text])
