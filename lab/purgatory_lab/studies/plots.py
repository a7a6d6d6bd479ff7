"""The plots of each study: the lines of each plot, and the rows that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from purgatory_lab.studies.catalogue import (
    CASES,
    COLLECTIONS_MS,
    DESIGNS,
    LONG_TIME_OUTS_MS,
    LONG_WHEEL_SIZES,
    PURGE_INTERVALS,
    RATES,
    TICKS_MS,
    WHEEL_SIZES,
)
from purgatory_lab.studies.plot_style import Line, Panel, draw
from purgatory_lab.studies.reading import (
    Rows,
    count,
    early_ms,
    mean,
    per_event,
    per_request,
)
from purgatory_lab.studies.tables import Cell, Row

if TYPE_CHECKING:
    from pathlib import Path

Value = Callable[[Row], float]
"""A number that a row tells."""

Plots = Iterator[tuple[str, Sequence[Panel]]]
"""The plots of a study: their names, and the panels of each."""

_TITLES: Final = {"low": "low: few time out", "high": "high: half time out"}
"""The title of each case."""


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


def _each(name: str) -> Value:
    """Return a value: a count for each request."""
    return lambda row: per_request(row, name)


def _mean(name: str) -> Value:
    """Return a value: a mean over time."""
    return lambda row: mean(row, name)


def _line(
    rows: Rows, label: str, value: Value, over: str, numbers: Sequence[int], **settings: Cell
) -> Line:
    """Return the line of the rows that differ in one setting alone."""
    found = [rows.one(**settings, **{over: each}) for each in numbers]
    return Line(label, numbers, [value(row) for row in found])


def _designs(rows: Rows) -> Plots:
    timers = ("old", "discontinuous", "proposal")
    purging = [design for design in DESIGNS if design != "discontinuous"]
    for name, label, value, scale, designs in (
        ("wake-ups", "wake-ups for a request", _each("wake_ups"), "linear", timers),
        ("queue", "heap levels passed for a request", _each("queue_steps"), "log", timers),
        ("purges", "entries visited for a request", _each("purge_visited"), "log", purging),
        ("stale", "stale operations, mean", _mean("stale_operations"), "linear", purging),
    ):
        panels = [
            Panel(
                _TITLES[case],
                "requests a second",
                label,
                [
                    _line(rows, each, value, "rate", RATES, design=each, case=case)
                    for each in designs
                ],
                y_scale=scale,
            )
            for case in CASES
        ]
        yield f"designs-{name}", panels


def _wheel(rows: Rows) -> Plots:
    """Yield the plots of reinsertions and wake-ups, by tick and wheel size."""

    def panel(title: str, label: str, lines: Sequence[Line]) -> Panel:
        return Panel(title, "tick, ms", label, lines, x_scale="names", y_scale="linear")

    def line(label: str, value: Value, case: str, size: int) -> Line:
        settings: dict[str, Cell] = {"design": "exact", "case": case, "wheel_size": size}
        return _line(rows, label, value, "tick_ms", TICKS_MS, **settings)

    yield (
        "wheel-reinsertions",
        [
            panel(
                _TITLES[case],
                "put again, for a request",
                [line(f"{n} buckets", _each("reinserted"), case, n) for n in WHEEL_SIZES],
            )
            for case in CASES
        ],
    )
    yield (
        "wheel-ticks",
        [
            panel(title, label, [line(case, value, case, 20) for case in CASES])
            for title, label, value in (
                ("20 buckets: wake-ups", "wake-ups for a request", _each("wake_ups")),
                ("20 buckets: too early", "ms too early, mean of expired", early_ms),
            )
        ],
    )


def _time_outs(rows: Rows) -> Plots:
    """Yield the plots of long time-outs' costs, in wheels and in discontinuous buckets."""

    def line(label: str, value: Value, **settings: Cell) -> Line:
        return _line(rows, label, value, "time_out_ms", LONG_TIME_OUTS_MS, **settings)

    def panel(title: str, label: str, value: Value, scale: str) -> Panel:
        lines = [
            line(f"{size} buckets", value, design="exact", wheel_size=size)
            for size in LONG_WHEEL_SIZES
        ]
        lines.append(line("discontinuous", value, design="discontinuous"))
        return Panel(title, "time-out, ms", label, lines, y_scale=scale)

    cascades = _each("reinserted")
    yield (
        "time-outs",
        [
            panel("all expire: cascades", "put again, for a request", cascades, "linear"),
            panel(
                "all expire: delay queue",
                "buckets in the queue, most",
                lambda row: count(row, "queued_most"),
                "log",
            ),
        ],
    )


def _purge(rows: Rows) -> Plots:
    """Yield the plots of purge visits and stale entries, by the purge interval."""

    def panel(label: str, value: Value) -> Panel:
        lines = [
            _line(rows, design, value, "purge_interval", PURGE_INTERVALS, design=design)
            for design in ("old", "proposal", "exact")
        ]
        return Panel(_TITLES["high"], "purge interval", label, lines)

    yield (
        "purge-intervals",
        [
            panel("entries visited for a request", _each("purge_visited")),
            panel("stale operations, mean", _mean("stale_operations")),
        ],
    )


def _keys(rows: Rows) -> Plots:
    """Yield the plots of the caller's costs and of purge visits, by the keys of a request."""

    def line(design: str, value: Value, layout: str) -> Line:
        settings: dict[str, Cell] = {"layout": layout, "purge_interval": 1000}
        return _line(rows, design, value, "keys", (1, 1_000, 10_000), design=design, **settings)

    def steps(row: Row) -> float:
        return per_event(row, "caller_steps")

    for name, label, value, designs in (
        ("caller", "caller's list steps for an event", steps, ("proposal", "exact", "eager")),
        (
            "purges",
            "entries visited by purges, for a request",
            _each("purge_visited"),
            ("proposal", "exact"),
        ),
    ):
        panels = [
            Panel(
                title, "keys of a request", label, [line(each, value, layout) for each in designs]
            )
            for layout, title in (("own", "keys of its own"), ("shared", "all watch all keys"))
        ]
        yield f"keys-{name}", panels


def _weak(rows: Rows) -> Plots:
    """Yield the plots of weak references, by the time between collections."""
    proposal = rows.one(design="proposal")

    def weakly(label: str, value: Value) -> Line:
        return _line(rows, label, value, "collection_ms", COLLECTIONS_MS, design="weak")

    def always(label: str, value: Value) -> Line:
        return Line(label, COLLECTIONS_MS, [value(proposal)] * len(COLLECTIONS_MS))

    def panel(label: str, scale: str, *lines: Line) -> Panel:
        x_label = "ms from one collection to the next"
        return Panel(_TITLES["high"], x_label, label, lines, y_scale=scale)

    stale = _mean("stale_entries")
    yield (
        "weak-references",
        [
            panel(
                "visited for a request",
                "log",
                weakly("references, collector", _each("references_visited")),
                weakly("entries, purges", _each("purge_visited")),
                always("entries, proposal", _each("purge_visited")),
            ),
            panel(
                "stale entries, mean", "linear", weakly("weak", stale), always("proposal", stale)
            ),
        ],
    )


_PLOTS: Final[dict[str, Callable[[Rows], Plots]]] = {
    "designs": _designs,
    "wheel": _wheel,
    "time-outs": _time_outs,
    "purge": _purge,
    "keys": _keys,
    "weak": _weak,
}
