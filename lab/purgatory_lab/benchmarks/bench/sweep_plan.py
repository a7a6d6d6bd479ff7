"""The proposal's workload at target rates: its points, and what it is to hold a rate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.results import Setting

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
"""The rates of the sweep, requests a second."""

PURGE_INTERVAL: Final = 1000
"""Kafka's own purge interval, which the goals speak of."""


@dataclass(frozen=True)
class Series:
    """The points that differ in their target rate alone.

    Attributes:
        case: ``low`` or ``high``.
        keys: How many keys there are.
        purge_interval: More stale entries than this make a purge due.
    """

    case: str
    keys: int
    purge_interval: int = PURGE_INTERVAL

    @property
    def label(self) -> str:
        """Return the label of the series; the usual purge interval is not named."""
        return f"{self.case}, {self.conditions}"

    @property
    def conditions(self) -> str:
        """Return the label without the case."""
        usual = self.purge_interval == PURGE_INTERVAL
        purge = "" if usual else f", purge interval {self.purge_interval:,}"
        return f"{self.keys:,} keys{purge}"


@dataclass(frozen=True)
class Sweep:
    """The points of a sweep.

    Attributes:
        rates: Target rates, rising.
        cases: ``low``, ``high`` or both.
        keys: Numbers of keys.
        requests: Of each point.
        payload: Bytes that each request holds.
        purge_intervals: Of the purgatories.
    """

    rates: Sequence[int]
    cases: Sequence[str]
    keys: Sequence[int]
    requests: int
    payload: int = 100
    purge_intervals: Sequence[int] = (PURGE_INTERVAL,)

    def series(self) -> Iterator[Series]:
        """Yield every case with every number of keys and every purge interval."""
        for case in self.cases:
            for keys in self.keys:
                for purge_interval in self.purge_intervals:
                    yield Series(case, keys, purge_interval)


def rate_label(series: Series, rate: int) -> str:
    """Return the label of a point."""
    return f"{series.label}, {rate:,}/s"


def rate_setting_name(series: Series, rate: int, kind: str = MEASURE) -> str:
    """Return the name of a point's setting."""
    return f"{kind}, {rate_label(series, rate)}"


def point(series: Series, rate: int, sweep: Sweep, kind: str = MEASURE) -> Setting:
    """Return the setting of one point."""
    request: dict[str, int | float | str] = {
        "measure": MEASURE,
        "pending": 0,
        "operations": sweep.requests,
        "rate": rate,
        "case": series.case,
        "keys": series.keys,
        "payload": sweep.payload,
        "purge_interval": series.purge_interval,
    }
    name = rate_setting_name(series, rate, kind)
    return Setting(name, kind, rate_label(series, rate), request)


def series_of(setting: Setting) -> Series:
    """Return the series of a point; older files lack the choice of the interval."""
    asked = setting.request
    interval = int(asked.get("purge_interval", PURGE_INTERVAL))
    return Series(str(asked["case"]), int(asked["keys"]), interval)


def all_series(figures: Figures, kind: str = MEASURE) -> list[Series]:
    """Return the series that were asked for, without duplicates."""
    points = (each for each in figures.settings.values() if each.measure == kind)
    return list(dict.fromkeys(map(series_of, points)))


def points_of(figures: Figures, series: Series, kind: str = MEASURE) -> list[Setting]:
    """Return the points of a series that were asked for, by their rates."""
    found = [
        each
        for each in figures.settings.values()
        if each.measure == kind and series_of(each) == series
    ]
    return sorted(found, key=lambda each: float(each.request["rate"]))


def held_rates(
    figures: Figures, peer: str, series: Series, *, share: float, lag_ms: float | None
) -> list[float] | None:
    """Return the target rates that a peer holds, medians of all rounds, or None.

    Args:
        figures: What was measured.
        peer: Who.
        series: Of which points.
        share: Of the target rate that must be achieved.
        lag_ms: How late the completion of one in a hundred may be, ms; None for any time.
    """
    held, asked = [], False
    for each in points_of(figures, series):
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
