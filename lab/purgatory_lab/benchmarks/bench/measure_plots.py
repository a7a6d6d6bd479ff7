"""Plots of the measures: one row for each peer, one marker for each size, least and most as a line.

Black on white: sizes are told apart by their markers.
"""

from __future__ import annotations

from importlib import import_module
from itertools import cycle
from typing import TYPE_CHECKING, Final

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, Measure
from purgatory_spec.installing import command_for
from purgatory_traces.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from purgatory_lab.benchmarks.bench.figures import Figures
    from purgatory_lab.benchmarks.bench.results import Setting

_PICTURES: Final = {
    "timer-virtual": ("hot/virtual", "fifo/virtual", "random/virtual", "expire/virtual"),
    "timer-system": ("hot/system", "fifo/system", "random/system", "expire/system"),
    "purgatory": ("purgatory", "event", "memory/purgatory", "pause"),
}
_MARKERS: Final = ("o", "s", "^", "D")
_ROW_INCHES: Final = 0.42
_SETTINGS: Final[dict[str, object]] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "purgatory bench",
}


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
    try:
        matplotlib = import_module("matplotlib")
    except ImportError as problem:
        raise MissingExtra(
            f"plots need matplotlib, not installed here: {command_for('bench')}"
        ) from problem
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = max(len(_peers(figures, each)) for each in measures)
    columns = 2 if len(measures) > 1 else 1
    lines = -(-len(measures) // columns)
    with matplotlib.rc_context(_SETTINGS):
        size = (5.2 * columns, (1.3 + _ROW_INCHES * rows) * lines)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        for place, measure in enumerate(measures, start=1):
            _fill(figure.add_subplot(lines, columns, place), figures, measure)
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, metadata=metadata, dpi=110)


def _fill(axes: Axes, figures: Figures, measure: Measure) -> None:
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
