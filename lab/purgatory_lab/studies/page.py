"""The docs page: its figures are put between marks, its plots and summaries beside it.

docs/explanation/workload-studies.md    words by hand, figures between marks
docs/assets/studies/STUDY.csv           the rows that the figures come from
docs/assets/studies/*.svg               the plots
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from purgatory_conformance.reporting.marked_pages import between_marks
from purgatory_lab.studies.catalogue import STUDIES
from purgatory_lab.studies.figures import (
    agreement,
    designs,
    expiries,
    keys,
    purge,
    time_outs,
    weak,
    wheel,
)
from purgatory_lab.studies.plots import draw_plots
from purgatory_lab.studies.reading import Rows, count
from purgatory_lab.studies.results import ResultsFolder
from purgatory_lab.studies.tables import Row, read_summary, write_summary
from purgatory_spec.named_files import named_file
from purgatory_traces.errors import PipelineError

LEAST_REQUESTS: Final = 1_000_000
"""Requests of each setting that is published, at least."""

PAGE: Final = Path("explanation") / "workload-studies.md"
ASSETS: Final = Path("assets") / "studies"

_FIGURES: Final[dict[str, Callable[[Rows], Iterator[str]]]] = {
    "designs": designs,
    "wheel": wheel,
    "time-outs": time_outs,
    "purge": purge,
    "keys": keys,
    "weak": weak,
    "expiries": expiries,
    "agreement": agreement,
}
"""The lines of answer and table of each study, in Markdown."""


def answer_of(study: str, rows: Rows) -> str:
    """Return the answer of a study in Markdown, without the table below it on the page."""
    lines = [line for line in _FIGURES[study](rows) if not line.startswith("|")]
    return "\n".join(lines).strip()


def publish(docs: Path, results: Path | None) -> list[Path]:
    """Write summaries, plots and figures; the files written.

    Args:
        docs: The folder of the site.
        results: The folder of results; without it, the summaries that are there are used.

    Raises:
        PipelineError: a study was not run, or with too few requests, or the page has no place for
            it; nothing is written then.
        FileNotFoundError: there is no page, or no summary of a study.
        MissingExtra: a library is not installed.
    """
    assets = docs / ASSETS
    page = docs / PAGE
    text = named_file(page).read_text(encoding="utf-8")
    read = {
        name: read_summary(assets / f"{name}.csv")
        if results is None
        else _enough(name, ResultsFolder(results).read_study(name))
        for name in STUDIES
    }
    for name, rows in read.items():
        text = with_figures(text, name, Rows(rows))
    assets.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in read.items():
        if results is not None:
            summary = assets / f"{name}.csv"
            write_summary(rows, summary)
            written.append(summary)
        written += draw_plots(name, Rows(rows), assets)
    page.write_text(text, encoding="utf-8")
    return [*written, page]


def with_figures(text: str, study: str, rows: Rows) -> str:
    """Return the page with the figures of one study put in anew.

    Raises:
        PipelineError: the page has no marks for the study.
    """
    try:
        return between_marks(text, study, "\n".join(_FIGURES[study](rows)))
    except ValueError as problem:
        raise PipelineError(f"the page {problem}") from None


def _enough(study: str, rows: list[Row]) -> list[Row]:
    fewest = min(count(row, "requests") for row in rows)
    if fewest < LEAST_REQUESTS:
        raise PipelineError(
            f"a setting of {study} has {fewest:,} requests; published are {LEAST_REQUESTS:,} or "
            "more: run it without --requests"
        )
    return rows
