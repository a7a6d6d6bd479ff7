"""The proposal's workload at target rates: its points, and what it is to hold a rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from purgatory_bench.bench.figures import Figures
from purgatory_bench.bench.results import Setting

SATURATED_SHARE: Final = 0.95
"""A peer that achieves less than this share of a target rate is asked for no higher one."""

HELD_SHARE: Final = 0.99
"""A rate is held where at least this share of it is achieved."""

MEASURE: Final = "workload"
TIGHT: Final = "memory-tight"
CASES: Final = ("low", "high")

RATES: Final = (
    *(10_000, 20_000, 30_000, 40_000, 50_000, 75_000, 105_000, 125_000, 150_000),
    *(175_000, 200_000, 250_000, 300_000, 350_000, 400_000, 500_000, 600_000, 800_000),
)
"""Requests a second."""


@dataclass(frozen=True)
class Sweep:
    """What is swept.

    Attributes:
        rates: Target rates, rising.
        cases: ``low``, ``high`` or both.
        keys: Numbers of keys.
        requests: Of each point.
        payload: Bytes that each request holds.
    """

    rates: Sequence[int]
    cases: Sequence[str]
    keys: Sequence[int]
    requests: int
    payload: int = 100


def rate_label(case: str, keys: int, rate: int) -> str:
    """What tells a point from others."""
    return f"{case}, {keys:,} keys, {rate:,}/s"


def rate_setting_name(case: str, keys: int, rate: int, kind: str = MEASURE) -> str:
    """What a point is called."""
    return f"{kind}, {rate_label(case, keys, rate)}"


def point(case: str, keys: int, rate: int, sweep: Sweep, kind: str = MEASURE) -> Setting:
    """One point."""
    request: dict[str, int | float | str] = {
        "measure": MEASURE,
        "pending": 0,
        "operations": sweep.requests,
        "rate": rate,
        "case": case,
        "keys": keys,
        "payload": sweep.payload,
    }
    name = rate_setting_name(case, keys, rate, kind)
    return Setting(name, kind, rate_label(case, keys, rate), request)


def points_of(figures: Figures, case: str, keys: int, kind: str = MEASURE) -> list[Setting]:
    """The points of a series that were asked for, by their rates."""
    found = [
        each
        for each in figures.settings.values()
        if each.measure == kind and each.request["case"] == case and each.request["keys"] == keys
    ]
    return sorted(found, key=lambda each: float(each.request["rate"]))


def held_rates(
    figures: Figures, peer: str, case: str, keys: int, *, share: float, lag_ms: float | None
) -> list[float] | None:
    """The target rates that a peer holds, medians of all rounds; None where it was asked for none.

    Args:
        figures: What was measured.
        peer: Who.
        case: Which case.
        keys: How many keys.
        share: Of the target rate that must be achieved.
        lag_ms: How late the completion of one in a hundred may be, ms; None for any time.
    """
    held, asked = [], False
    for each in points_of(figures, case, keys):
        achieved = figures.summary(each.name, peer, "achieved")
        lag = figures.summary(each.name, peer, "lag_p99_ms")
        if achieved is None:
            continue
        asked = True
        rate = float(each.request["rate"])
        timely = lag_ms is None or (lag is not None and lag.median <= lag_ms)
        if achieved.median >= share * rate and timely:
            held.append(rate)
    return held if asked else None
