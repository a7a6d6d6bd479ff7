"""The plots of each study: which lines, of which rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from purgatory_pipeline.studies.catalogue import (
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
from purgatory_pipeline.studies.plot_style import Line, Panel, draw
from purgatory_pipeline.studies.reading import Rows, count, mean, per_event, per_request
from purgatory_pipeline.studies.tables import Row

if TYPE_CHECKING:
    from pathlib import Path

Value = Callable[[Row], float]
Plots = Iterator[tuple[str, Sequence[Panel]]]

_TITLES: Final = {"low": "low: few time out", "high": "high: half time out"}


def draw_plots(study: str, rows: Rows, folder: Path, suffix: str = ".svg") -> list[Path]:
    """Draw the plots of a study; the files.

    Args:
        study: Its name.
        rows: Its results, all of them.
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
                _TITLES[case],
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
        panels("wake-ups for a request", _each("wake_ups"), "linear", timers),
    )
    yield (
        "designs-queue",
        panels("heap levels passed for a request", _each("queue_steps"), "log", timers),
    )
    yield (
        "designs-purges",
        panels("entries visited for a request", _each("purge_visited"), "log", purging),
    )
    yield (
        "designs-stale",
        panels("stale operations, mean", _mean("stale_operations"), "linear", purging),
    )


def _wheel(rows: Rows) -> Plots:
    def line(case: str, label: str, value: Value, **settings: int | str) -> Line:
        return Line(
            label,
            TICKS_MS,
            [value(rows.one(case=case, tick_ms=tick, **settings)) for tick in TICKS_MS],
        )

    yield (
        "wheel-reinsertions",
        [
            Panel(
                _TITLES[case],
                "tick, ms",
                "put again, for a request",
                [
                    line(
                        case,
                        f"{size} buckets",
                        _each("reinserted"),
                        design="exact",
                        wheel_size=size,
                    )
                    for size in WHEEL_SIZES
                ],
                x_scale="names",
                y_scale="linear",
            )
            for case in CASES
        ],
    )
    yield (
        "wheel-ticks",
        [
            Panel(
                title,
                "tick, ms",
                label,
                [line(case, case, value, design="exact", wheel_size=20) for case in CASES],
                x_scale="names",
                y_scale="linear",
            )
            for title, label, value in (
                ("20 buckets: wake-ups", "wake-ups for a request", _each("wake_ups")),
                ("20 buckets: too early", "ms too early, mean of expired", _early),
            )
        ],
    )


def _time_outs(rows: Rows) -> Plots:
    yield (
        "time-outs",
        [
            Panel(
                title,
                "time-out, ms",
                label,
                [
                    Line(
                        f"{size} buckets",
                        LONG_TIME_OUTS_MS,
                        [
                            value(rows.one(design="exact", time_out_ms=each, wheel_size=size))
                            for each in LONG_TIME_OUTS_MS
                        ],
                    )
                    for size in LONG_WHEEL_SIZES
                ]
                + [
                    Line(
                        "discontinuous",
                        LONG_TIME_OUTS_MS,
                        [
                            value(rows.one(design="discontinuous", time_out_ms=each))
                            for each in LONG_TIME_OUTS_MS
                        ],
                    )
                ],
                y_scale=scale,
            )
            for title, label, value, scale in (
                ("all expire: cascades", "put again, for a request", _each("reinserted"), "linear"),
                ("all expire: delay queue", "buckets in the queue, most", _most("queued"), "log"),
            )
        ],
    )


def _purge(rows: Rows) -> Plots:
    def panel(label: str, value: Value) -> Panel:
        return Panel(
            _TITLES["high"],
            "purge interval",
            label,
            [
                Line(
                    design,
                    PURGE_INTERVALS,
                    [
                        value(rows.one(design=design, purge_interval=interval))
                        for interval in PURGE_INTERVALS
                    ],
                )
                for design in ("old", "proposal", "exact")
            ],
        )

    yield (
        "purge-intervals",
        [
            panel("entries visited for a request", _each("purge_visited")),
            panel("stale operations, mean", _mean("stale_operations")),
        ],
    )


def _keys(rows: Rows) -> Plots:
    keys = (1, 1_000, 10_000)

    def line(layout: str, design: str, value: Value) -> Line:
        found = [
            rows.one(layout=layout, design=design, keys=each, purge_interval=1000) for each in keys
        ]
        return Line(design, keys, [value(row) for row in found])

    layouts = (("own", "keys of its own"), ("shared", "all watch all keys"))
    yield (
        "keys-caller",
        [
            Panel(
                title,
                "keys of a request",
                "caller's list steps for an event",
                [
                    line(layout, design, lambda row: per_event(row, "caller_steps"))
                    for design in ("proposal", "exact", "eager")
                ],
            )
            for layout, title in layouts
        ],
    )
    yield (
        "keys-purges",
        [
            Panel(
                title,
                "keys of a request",
                "entries visited by purges, for a request",
                [line(layout, each, _each("purge_visited")) for each in ("proposal", "exact")],
                y_scale="log",
            )
            for layout, title in layouts
        ],
    )


def _weak(rows: Rows) -> Plots:
    weak = [rows.one(design="weak", collection_ms=each) for each in COLLECTIONS_MS]
    proposal = [rows.one(design="proposal")] * len(COLLECTIONS_MS)

    def panel(label: str, scale: str, *lines: tuple[str, list[Row], Value]) -> Panel:
        return Panel(
            _TITLES["high"],
            "ms from one collection to the next",
            label,
            [
                Line(name, COLLECTIONS_MS, [value(row) for row in found])
                for name, found, value in lines
            ],
            y_scale=scale,
        )

    yield (
        "weak-references",
        [
            panel(
                "visited for a request",
                "log",
                ("references, collector", weak, _each("references_visited")),
                ("entries, purges", weak, _each("purge_visited")),
                ("entries, proposal", proposal, _each("purge_visited")),
            ),
            panel(
                "stale entries, mean",
                "linear",
                ("weak", weak, _mean("stale_entries")),
                ("proposal", proposal, _mean("stale_entries")),
            ),
        ],
    )


def _each(name: str) -> Value:
    return lambda row: per_request(row, name)


def _mean(name: str) -> Value:
    return lambda row: mean(row, name)


def _most(name: str) -> Value:
    return lambda row: count(row, f"{name}_most")


def _early(row: Row) -> float:
    return count(row, "early_ms") / count(row, "expired")


_PLOTS: Final[dict[str, Callable[[Rows], Plots]]] = {
    "designs": _designs,
    "wheel": _wheel,
    "time-outs": _time_outs,
    "purge": _purge,
    "keys": _keys,
    "weak": _weak,
}
