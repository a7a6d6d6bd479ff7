"""The page of the documentation, out of the kept files: tables between marks, plots beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.goals import GOAL_SERIES, judge
from purgatory_lab.benchmarks.bench.kept import KeptMachine, read_kept, stated_medians
from purgatory_lab.benchmarks.bench.plots import draw_plots
from purgatory_lab.benchmarks.bench.report import Column, circumstances_in_short, goals_text
from purgatory_lab.benchmarks.bench.results import Results
from purgatory_lab.benchmarks.bench.tables import workload_summary
from purgatory_lab.documents import filled_page

PAGE: Final = Path("reference") / "performance.md"
PLOTS: Final = Path("assets") / "performance"

_CAPTIONS: Final = {
    "timer-virtual": "Timers, the caller leads the clock: time for each operation, every peer",
    "timer-system": "Timers on the real clock: time for each operation, every peer",
    "purgatory": "Purgatories: operations, one event, memory, pauses, every peer",
    "workload-memory-over-time": "Resident memory while the workload runs",
    "workload-rate": "Requests achieved over requests asked for, a second",
    "workload-processor": "Processor time for each request over the rate achieved",
    "workload-lag": "How late requests are handled over the target rate, 99th percentile",
    "workload-pause": "The longest pause over the target rate",
    "workload-memory": "The peak of resident memory over the target rate",
}


def publish(docs: Path) -> list[Path]:
    """Make the page of the site from the files that are kept beside it.

    The table of goals has a column for each machine. The workload and the plots are of the machine
    with the most files, with as many keys as the goal has. ``report`` tells all that is in files.

    Args:
        docs: Folder of the site.

    Returns:
        The files that were written.

    Raises:
        Problem: the page is not there, or lacks a mark, or no file is kept.
        MissingExtra: matplotlib is not installed.
    """
    page = docs / PAGE
    filled_page(page, {})  # a page that is not there is said before anything is drawn
    machines = read_kept(docs)
    most = max(machines, key=lambda each: len(each.files)).files
    shown = [each for each in most if each.kind == "measures" or _has_keys_of_goal(each)]
    drawn = draw_plots(shown, docs / PLOTS)
    figures = Figures(shown)
    regions = {"goals": _goals(machines)}
    if drawn["measures"]:
        regions["measures"] = _shown(drawn["measures"])
    if summary := workload_summary(figures):
        regions["workload"] = f"{summary}\n\n{_shown(drawn['workload'])}"
    page.write_text(filled_page(page, regions), encoding="utf-8")
    return [page, *(plot for plots in drawn.values() for plot in plots)]


def _goals(machines: Sequence[KeptMachine]) -> str:
    columns = [
        Column(each.name, judge(Figures(each.files), stated_medians(each))) for each in machines
    ]
    texts = [goals_text(columns)]
    for each in machines:
        if each.stated is not None:
            texts.append(f"{each.name}: {each.stated.source}")
        if each.files:
            texts.append(f"{each.name}: {circumstances_in_short(each.files)}")
    return "\n\n".join(texts)


def _has_keys_of_goal(file: Results) -> bool:
    return any(each.request["keys"] == GOAL_SERIES.keys for each in file.settings)


def caption(stem: str) -> str:
    """Return the caption of a plot, by its file's name: the kind, then the conditions."""
    if stem in _CAPTIONS:
        return _CAPTIONS[stem]
    kind = "-".join(stem.split("-")[:2])
    return f"{_CAPTIONS[kind]}; {stem.removeprefix(f'{kind}-').replace('-', ' ')}"


def _shown(plots: Sequence[Path]) -> str:
    return "\n\n".join(
        f"![{caption(plot.stem)}](../{PLOTS.as_posix()}/{plot.name})" for plot in plots
    )
