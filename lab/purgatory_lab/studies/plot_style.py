"""Style of plots: black on white, told apart by markers and strokes, named at line ends."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

from purgatory_traces.errors import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STROKES: Final = (
    ("-", "o", "○"),
    ("--", "s", "□"),
    ("-.", "^", "△"),
    (":", "D", "◇"),
    ((0, (8, 2)), "v", "▽"),
)
"""The strokes, each with its marker and the marker as a letter."""
_LABEL_PIXELS: Final = 13.0
_SETTINGS: Final[dict[str, object]] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.size": 9,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "purgatory studies",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plot.

    Attributes:
        label: Its name.
        x: The horizontal positions of the points.
        y: The vertical positions of the points.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, slots=True)
class Panel:
    """A pair of axes with its labels and lines.

    Attributes:
        title: Above it.
        x_label: Below it.
        y_label: Beside it.
        lines: The lines drawn.
        x_scale: ``log`` or ``linear``; ``names`` puts the values of x at equal distances.
        y_scale: ``log`` or ``linear``. A logarithmic one is linear next to zero, if that occurs.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    x_scale: str = "log"
    y_scale: str = "log"


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw panels side by side into a file; its suffix says which format.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with drawn_file(path, (5.2 * len(panels), 3.6), "spark") as figure:
        labels: list[Callable[[], None]] = []
        for place, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), place)
            labels.append(_fill(axes, panel))
        figure.canvas.draw()
        figure.set_layout_engine("none")
        for label in labels:
            label()


@contextmanager
def drawn_file(path: Path, inches: tuple[float, float], extra: str) -> Iterator[Figure]:
    """Provide a figure of a size that is drawn into a file at the end.

    Args:
        path: Of the file; its suffix says which format.
        inches: Width and height.
        extra: What installs matplotlib.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    require("matplotlib", extra, "a plot")
    matplotlib = import_module("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=inches, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, metadata=metadata, dpi=110)


def _fill(axes: Axes, panel: Panel) -> Callable[[], None]:
    """Put the lines in; what is returned names them, once the layout is known."""
    names = sorted({x for line in panel.lines for x in line.x})
    ends: list[tuple[str, float, float]] = []
    for line, (stroke, marker, letter) in zip(panel.lines, _STROKES, strict=False):
        x = [names.index(each) for each in line.x] if panel.x_scale == "names" else line.x
        axes.plot(
            x,
            line.y,
            linestyle=stroke,
            marker=marker,
            color="black",
            markerfacecolor="white",
            linewidth=1.1,
            markersize=5,
            clip_on=False,
        )
        ends.append((f"{letter} {line.label}", x[-1], line.y[-1]))
    if panel.x_scale == "names":
        axes.set_xticks(range(len(names)), [f"{name:,.0f}" for name in names])
    else:
        axes.set_xscale(panel.x_scale)
    heights = [y for line in panel.lines for y in line.y]
    if panel.y_scale == "log" and min(heights) <= 0:
        axes.set_yscale("symlog", linthresh=min((y for y in heights if y > 0), default=1.0))
    else:
        axes.set_yscale(panel.y_scale)
    if panel.y_scale == "linear" or min(heights) <= 0:
        axes.set_ylim(bottom=0)
    axes.set_title(panel.title, fontsize=9, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(visible=True, linewidth=0.3, color="0.8")
    # Room on the right for the names, reserved while the layout is made.
    axes.margins(x=0.02)
    longest = max(len(line.label) for line in panel.lines)
    room = axes.text(1.03, 0.5, "m" * (longest * 2 // 3 + 3), transform=axes.transAxes, alpha=0)
    return lambda: _name(axes, ends, room.remove)


def _name(axes: Axes, ends: Sequence[tuple[str, float, float]], done: Callable[[], None]) -> None:
    """Write each name beside the end of its line, one below the other where lines meet."""
    done()
    to_axes = axes.transAxes.inverted()
    spacing = to_axes.transform((0.0, _LABEL_PIXELS))[1] - to_axes.transform((0.0, 0.0))[1]
    heights = [(to_axes.transform(axes.transData.transform((x, y)))[1], x, y) for _, x, y in ends]
    named = sorted(zip(heights, ends, strict=True))
    places = _apart([height for (height, _, _), _ in named], spacing)
    for ((_, x, y), (label, _, _)), place in zip(named, places, strict=True):
        axes.annotate(
            label,
            xy=(x, y),
            xycoords="data",
            xytext=(1.05, place),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "0.4", "shrinkB": 4},
        )


def _apart(heights: Sequence[float], spacing: float) -> list[float]:
    """Return the heights moved apart: up, and down again from the upper edge."""
    places: list[float] = []
    for height in heights:
        places.append(max(height, places[-1] + spacing) if places else height)
    above = 1.0 + spacing
    for number in reversed(range(len(places))):
        above = places[number] = min(places[number], above - spacing)
    return places
