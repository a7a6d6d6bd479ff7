"""The longest holds of all rounds, as a table, and which of them break a bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from purgatory_lab.holds.stopwatch import CollectorClock, Section, Stopwatch

_HEAD = (
    "| lock | section | holds | mean, µs | longest, µs | collector at most, µs "
    "| processor time, µs | without collector, µs | processor time, µs | most in a hold | bound |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)


@dataclass
class Row:
    """A section of one size, in all rounds.

    Attributes:
        section: Which.
        with_collector: A stopwatch for each round in which the collector ran.
        without_collector: The same for rounds without it.
        recounted: Steps of the first hold or the longest, where these are counted apart.
    """

    section: Section
    with_collector: list[Stopwatch] = field(default_factory=list)
    without_collector: list[Stopwatch] = field(default_factory=list)
    recounted: int | None = None

    @property
    def most_steps(self) -> int | None:
        """The most steps of a hold in any round; None where none are counted."""
        counts = [each.most_steps for each in (*self.with_collector, *self.without_collector)]
        return max((each for each in (*counts, self.recounted) if each is not None), default=None)

    @property
    def breaks_bound(self) -> bool:
        """Whether a hold took more steps than its bound, or none were counted for it."""
        if self.section.bound is None:
            return False
        return self.most_steps is None or self.most_steps > self.section.bound

    @property
    def longest_at(self) -> int:
        """Which hold was the longest of all, counted from 0."""
        watches = (*self.with_collector, *self.without_collector)
        return max(watches, key=lambda watch: watch.longest_ns).longest_at


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    return "\n".join([*_HEAD, *(_line(row) for row in rows)])


def _line(row: Row) -> str:
    section, collected = row.section, row.with_collector
    longest = max(collected, key=lambda watch: watch.longest_ns)
    cells = (
        section.lock,
        section.name,
        f"{longest.holds:,}",
        _microseconds(median(watch.total_ns / watch.holds for watch in collected)),
        _spread([watch.longest_ns for watch in collected]),
        _microseconds(max(watch.collector_ns for watch in collected)),
        _microseconds(median(watch.processor_ns for watch in collected)),
        _spread([watch.longest_ns for watch in row.without_collector]),
        _microseconds(median(watch.processor_ns for watch in row.without_collector)),
        _counted(row, longest),
        "none" if section.bound is None else f"{section.bound:,}",
    )
    return f"| {' | '.join(cells)} |"


def _counted(row: Row, longest: Stopwatch) -> str:
    """The most steps; where none are counted, which hold was the longest."""
    if row.most_steps is None:
        return f"longest: number {longest.longest_at + 1:,}"
    return f"{row.section.steps}: {row.most_steps:,}"


def _spread(times_ns: list[int]) -> str:
    least, most = _microseconds(min(times_ns)), _microseconds(max(times_ns))
    return f"{_microseconds(median(times_ns))} [{least} to {most}]"


def _microseconds(time_ns: float) -> str:
    microseconds = time_ns / 1000
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.1f}"


def collector_line(clock: CollectorClock) -> str:
    """How much the collector ran in the rounds in which it did, inside of holds and outside."""
    longest_ms, spent_s = clock.longest_ns / 1e6, clock.spent_ns / 1e9
    return (
        f"The collector ran {clock.runs:,} times, {spent_s:.2f} s in all, "
        f"{longest_ms:.1f} ms at the longest."
    )
