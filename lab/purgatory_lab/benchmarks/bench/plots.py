"""The plots: of the measures every peer in a row, of the workload the proposal's curves.

A row of a measure has one marker for each size, and the least and the most as a line. Black on
white: sizes are told apart by their markers.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Final

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, Measure
from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.results import Curve, Results, Setting
from purgatory_lab.benchmarks.bench.sweep_plan import (
    CASES,
    Series,
    all_series,
    points_of,
    series_of,
)
from purgatory_lab.studies.plot_style import Line, Panel, draw, drawn_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURES: Final = {
    "timer-virtual": ("hot/virtual", "fifo/virtual", "random/virtual", "expire/virtual"),
    "timer-system": ("hot/system", "fifo/system", "random/system", "expire/system"),
    "purgatory": ("purgatory", "event", "memory/purgatory", "pause"),
}
_MARKERS: Final = ("o", "s", "^", "D")
_ROW_INCHES: Final = 0.42


def draw_measure_plots(figures: Figures, folder: Path, suffix: str) -> list[Path]:
    """Draw the plots of the measures that have figures; the files.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    drawn = []
    for name, members in _PICTURES.items():
        measures = [each for each in MEASURES if each.name in members and _peers(figures, each)]
        if measures:
            path = folder / f"{name}{suffix}"
            _draw(figures, measures, path)
            drawn.append(path)
    return drawn


def _settings(figures: Figures, measure: Measure) -> Sequence[Setting]:
    return [each for each in figures.settings.values() if each.measure == measure.name]


def _peers(figures: Figures, measure: Measure) -> list[str]:
    """Return the peers that have a figure of a measure."""
    source = measure.quantities[0].source
    settings = _settings(figures, measure)
    return [
        peer
        for peer in figures.peers
        if any(figures.summary(each.name, peer, source) is not None for each in settings)
    ]


def _draw(figures: Figures, measures: Sequence[Measure], path: Path) -> None:
    rows = max(len(_peers(figures, each)) for each in measures)
    columns = 2 if len(measures) > 1 else 1
    lines = -(-len(measures) // columns)
    size = (5.2 * columns, (1.3 + _ROW_INCHES * rows) * lines)
    with drawn_file(path, size, "bench") as figure:
        for place, measure in enumerate(measures, start=1):
            _fill(figure.add_subplot(lines, columns, place), figures, measure)


def _fill(axes: "Axes", figures: Figures, measure: Measure) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    quantity, settings = measure.quantities[0], _settings(figures, measure)
    peers = _peers(figures, measure)
    for number, (setting, marker) in enumerate(zip(settings, cycle(_MARKERS), strict=False)):
        shift = 0.6 * ((number + 0.5) / len(settings) - 0.5)
        points = [
            (found, row + shift)
            for row, peer in enumerate(peers)
            if (found := figures.summary(setting.name, peer, quantity.source)) is not None
        ]
        if not points:
            continue
        axes.errorbar(
            [found.median for found, _ in points],
            [row for _, row in points],
            xerr=(
                [found.median - found.least for found, _ in points],
                [found.most - found.median for found, _ in points],
            ),
            fmt=marker,
            color="black",
            markerfacecolor="white",
            markersize=5,
            elinewidth=0.9,
            capsize=2,
            label=setting.label,
        )
    axes.set_xscale("log")
    # Numbers in full at 1, 2 and 5: powers of ten alone are too few, all others run together.
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(peers)), peers)
    axes.set_ylim(len(peers) - 0.5, -0.5)
    axes.grid(visible=True, axis="x", linewidth=0.3, color="0.8")
    axes.set_title(f"{measure.name}: {measure.title}", fontsize=8, loc="left")
    axes.set_xlabel(f"{quantity.label}, {quantity.unit}", fontsize=8)
    if len(settings) > 1:
        axes.legend(title=measure.across, fontsize=7, title_fontsize=7, frameon=False)


_TITLES: Final = {"low": "low: few time out", "high": "high: about half time out"}
_MOST_LINES: Final = 5
"""The most lines that their strokes tell apart."""

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
