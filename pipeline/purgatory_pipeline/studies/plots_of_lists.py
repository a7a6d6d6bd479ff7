"""The plots of watcher lists: purges, many keys, weak references."""

from __future__ import annotations

from purgatory_pipeline.studies.catalogue import COLLECTIONS_MS, PURGE_INTERVALS
from purgatory_pipeline.studies.plot_style import Line, Panel
from purgatory_pipeline.studies.plot_values import TITLES, Plots, Value, mean_of, per_request_of
from purgatory_pipeline.studies.reading import Rows, per_event
from purgatory_pipeline.studies.tables import Row


def purge(rows: Rows) -> Plots:
    """What purges visit and what is stale, by the purge interval."""

    def panel(label: str, value: Value) -> Panel:
        return Panel(
            TITLES["high"],
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
            panel("entries visited for a request", per_request_of("purge_visited")),
            panel("stale operations, mean", mean_of("stale_operations")),
        ],
    )


def keys(rows: Rows) -> Plots:
    """What completing costs the caller, and purges visit, by the keys of a request."""
    numbers = (1, 1_000, 10_000)

    def line(layout: str, design: str, value: Value) -> Line:
        found = [
            rows.one(layout=layout, design=design, keys=each, purge_interval=1000)
            for each in numbers
        ]
        return Line(design, numbers, [value(row) for row in found])

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
                [
                    line(layout, each, per_request_of("purge_visited"))
                    for each in ("proposal", "exact")
                ],
                y_scale="log",
            )
            for layout, title in layouts
        ],
    )


def weak(rows: Rows) -> Plots:
    """What weak references leave to the collector, by how often that runs."""
    weakly = [rows.one(design="weak", collection_ms=each) for each in COLLECTIONS_MS]
    proposal = [rows.one(design="proposal")] * len(COLLECTIONS_MS)

    def panel(label: str, scale: str, *lines: tuple[str, list[Row], Value]) -> Panel:
        return Panel(
            TITLES["high"],
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
                ("references, collector", weakly, per_request_of("references_visited")),
                ("entries, purges", weakly, per_request_of("purge_visited")),
                ("entries, proposal", proposal, per_request_of("purge_visited")),
            ),
            panel(
                "stale entries, mean",
                "linear",
                ("weak", weakly, mean_of("stale_entries")),
                ("proposal", proposal, mean_of("stale_entries")),
            ),
        ],
    )
