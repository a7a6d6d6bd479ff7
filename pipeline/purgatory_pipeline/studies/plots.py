"""The plots of each study: the lines of each plot, and the rows that they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from purgatory_pipeline.studies.catalogue import CASES, DESIGNS, RATES
from purgatory_pipeline.studies.plot_style import Line, Panel, draw
from purgatory_pipeline.studies.plot_values import TITLES, Plots, Value, mean_of, per_request_of
from purgatory_pipeline.studies.plots_of_lists import keys, purge, weak
from purgatory_pipeline.studies.plots_of_wheels import time_outs, wheel
from purgatory_pipeline.studies.reading import Rows

if TYPE_CHECKING:
    from pathlib import Path


def draw_plots(study: str, rows: Rows, folder: Path, suffix: str = ".svg") -> list[Path]:
    """Draw the plots of a study; the files.

    Args:
        study: Its name.
        rows: All results of the study.
        folder: Where the files go.
        suffix: ``.svg`` or ``.png``.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    files = []
    for name, panels in _PLOTS[study](rows) if study in _PLOTS else ():
        path = folder / f"{name}{suffix}"
        draw(panels, path)
        files.append(path)
    return files


def _designs(rows: Rows) -> Plots:
    def panels(label: str, value: Value, scale: str, designs: Sequence[str]) -> list[Panel]:
        return [
            Panel(
                TITLES[case],
                "requests a second",
                label,
                [
                    Line(
                        design,
                        RATES,
                        [value(rows.one(design=design, case=case, rate=rate)) for rate in RATES],
                    )
                    for design in designs
                ],
                y_scale=scale,
            )
            for case in CASES
        ]

    timers = ("old", "discontinuous", "proposal")
    purging = [design for design in DESIGNS if design != "discontinuous"]
    yield (
        "designs-wake-ups",
        panels("wake-ups for a request", per_request_of("wake_ups"), "linear", timers),
    )
    yield (
        "designs-queue",
        panels("heap levels passed for a request", per_request_of("queue_steps"), "log", timers),
    )
    yield (
        "designs-purges",
        panels("entries visited for a request", per_request_of("purge_visited"), "log", purging),
    )
    yield (
        "designs-stale",
        panels("stale operations, mean", mean_of("stale_operations"), "linear", purging),
    )


_PLOTS: Final[dict[str, Callable[[Rows], Plots]]] = {
    "designs": _designs,
    "wheel": wheel,
    "time-outs": time_outs,
    "purge": purge,
    "keys": keys,
    "weak": weak,
}
