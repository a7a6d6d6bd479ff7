"""The plots of timing wheels: ticks, wheel sizes, long time-outs."""

from __future__ import annotations

from purgatory_pipeline.studies.catalogue import (
    CASES,
    LONG_TIME_OUTS_MS,
    LONG_WHEEL_SIZES,
    TICKS_MS,
    WHEEL_SIZES,
)
from purgatory_pipeline.studies.plot_style import Line, Panel
from purgatory_pipeline.studies.plot_values import (
    TITLES,
    Plots,
    Value,
    most_of,
    per_request_of,
)
from purgatory_pipeline.studies.reading import Rows, early_ms


def wheel(rows: Rows) -> Plots:
    """How often tasks are put again, and how often the timer wakes up, by tick and wheel size."""

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
                TITLES[case],
                "tick, ms",
                "put again, for a request",
                [
                    line(
                        case,
                        f"{size} buckets",
                        per_request_of("reinserted"),
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
                ("20 buckets: wake-ups", "wake-ups for a request", per_request_of("wake_ups")),
                ("20 buckets: too early", "ms too early, mean of expired", early_ms),
            )
        ],
    )


def time_outs(rows: Rows) -> Plots:
    """What long time-outs cost, in wheels and in discontinuous buckets."""
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
                (
                    "all expire: cascades",
                    "put again, for a request",
                    per_request_of("reinserted"),
                    "linear",
                ),
                ("all expire: delay queue", "buckets in the queue, most", most_of("queued"), "log"),
            )
        ],
    )
