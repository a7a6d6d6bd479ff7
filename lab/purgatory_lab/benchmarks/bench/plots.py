"""The plots: of the measures every peer in a row, of the workload the proposal's curves."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.measure_plots import draw_measure_plots
from purgatory_lab.benchmarks.bench.results import Curve, Results
from purgatory_lab.benchmarks.bench.sweep_plan import (
    CASES,
    Series,
    all_series,
    points_of,
    series_of,
)
from purgatory_lab.studies.plot_style import Line, Panel, draw

_TITLES: Final = {"low": "low: few time out", "high": "high: about half time out"}
_MOST_LINES: Final = 5
"""So many are told apart by their strokes."""

_MOST_MARKERS: Final = 20


def draw_plots(
    files: Sequence[Results], folder: Path, suffix: str = ".svg"
) -> Mapping[str, Sequence[Path]]:
    """Draw everything that files tell; the plots of ``measures`` and of ``workload``.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    figures = Figures(files)
    return {
        "measures": draw_measure_plots(figures, folder, suffix),
        "workload": _workload(figures, folder, suffix),
    }


def _workload(figures: Figures, folder: Path, suffix: str) -> list[Path]:
    drawn = []
    swept = all_series(figures)
    for conditions in dict.fromkeys((each.keys, each.purge_interval) for each in swept):
        both = [Series(case, *conditions) for case in CASES]
        words = both[0].conditions.replace(",", "").replace(" ", "-")
        for name, panel in _PANELS.items():
            path = folder / f"workload-{name}-{words}{suffix}"
            if panels := [made for series in both if (made := panel(figures, series))]:
                draw(panels, path)
                drawn.append(path)
    if panels := [made for case in CASES if (made := _over_time(figures, case))]:
        path = folder / f"workload-memory-over-time{suffix}"
        draw(panels, path)
        drawn.append(path)
    return drawn


def _against_rate(
    source: str, label: str, x_label: str = "target rate, requests a second", x: str = ""
) -> Callable[[Figures, Series], Panel | None]:
    """Return a figure of each peer, against the target rate or another figure."""

    def panel(figures: Figures, series: Series) -> Panel | None:
        lines = []
        points = points_of(figures, series)
        for peer in list(figures.peers_of(points[0].name))[:_MOST_LINES] if points else ():
            found = []
            for point in points:
                high = figures.summary(point.name, peer, source)
                wide = figures.summary(point.name, peer, x) if x else None
                if high is None or (x and wide is None):
                    continue
                rate = float(point.request["rate"]) if wide is None else wide.median
                found.append((rate, high.median))
            if found:
                lines.append(Line(peer, [each for each, _ in found], [each for _, each in found]))
        if not lines:
            return None
        scale = "log" if source.startswith(("lag", "pause")) else "linear"
        title = f"{_TITLES[series.case]}, {series.conditions}"
        return Panel(title, x_label, label, lines, x_scale="log", y_scale=scale)

    return panel


_PANELS: Final = {
    "rate": _against_rate("achieved", "achieved, requests a second"),
    "processor": _against_rate(
        "cpu_us",
        "processor time per request, µs",
        x_label="achieved, requests a second",
        x="achieved",
    ),
    "lag": _against_rate("lag_p99_ms", "99th percentile of lags, ms"),
    "pause": _against_rate("pause_max_ms", "longest pause, ms"),
    "memory": _against_rate("resident_mib", "peak of resident memory, MiB"),
}


def _over_time(figures: Figures, case: str) -> Panel | None:
    """Return memory over time: at the lowest rate that ended a peer, else at the highest."""
    curves = [
        curve
        for file in figures.files
        for curve in file.curves
        if series_of(figures.settings[curve.setting]).case == case and len(curve.mib) > 1
    ]
    if not curves:
        return None

    def rate(setting: str) -> float:
        return float(figures.settings[setting].request["rate"])

    ended = [curve.setting for curve in curves if curve.exceeded]
    shown = min(ended, key=rate) if ended else max((each.setting for each in curves), key=rate)
    lines = [_line(curve) for curve in curves if curve.setting == shown][: _MOST_LINES - 1]
    seconds = [each for line in lines for each in line.x]
    limit = next(curve.limit_mib for curve in curves if curve.setting == shown)
    lines.append(Line("limit", [min(seconds), max(seconds)], [limit, limit]))
    title = f"{case}, {rate(shown):,.0f} requests a second"
    return Panel(title, "seconds", "resident memory, MiB", lines, "linear", "linear")


def _line(curve: Curve) -> Line:
    """Return a curve with few enough points that markers stand apart, the last point included."""
    step = -(-len(curve.mib) // _MOST_MARKERS)
    chosen = range((len(curve.mib) - 1) % step, len(curve.mib), step)
    return Line(curve.peer, [curve.seconds[n] for n in chosen], [curve.mib[n] for n in chosen])
