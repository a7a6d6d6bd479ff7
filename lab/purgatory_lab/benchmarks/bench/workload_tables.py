"""The tables of the proposal's workload, and of its run with a limit on memory."""

from collections.abc import Iterator, Sequence
from typing import Final

from purgatory_lab.benchmarks.bench.catalogue import Quantity
from purgatory_lab.benchmarks.bench.figures import Figures
from purgatory_lab.benchmarks.bench.goals import GOAL_RATE
from purgatory_lab.benchmarks.bench.results import Curve, Setting
from purgatory_lab.benchmarks.bench.sweep_plan import (
    HELD_SHARE,
    TIGHT,
    Series,
    all_series,
    held_rates,
    points_of,
    rate_setting_name,
)
from purgatory_lab.benchmarks.bench.words import NONE, bullets, number, table, told

_COLUMNS: Final = (
    Quantity("achieved", "achieved, 1/s", "1/s"),
    Quantity("cpu_us", "processor time per request, µs", "µs", 2),
    Quantity("lag_p99_ms", "p99 lag, ms", "ms", 1),
    Quantity("pause_max_ms", "longest pause, ms", "ms", 1),
    Quantity("resident_mib", "resident, MiB", "MiB"),
)
_SUMMARY_SAID: Final = (
    f"The highest target rate of which at least {HELD_SHARE:.0%} was achieved, the highest "
    f"rate that was achieved at any target, and the rest at a target of {GOAL_RATE:,}/s."
)
_SUMMARY_HEAD: Final = (
    "peer",
    "rate held, 1/s",
    "most achieved, 1/s",
    *(each.label for each in _COLUMNS[1:]),
)
_TITLES: Final = {"low": "few time out", "high": "about half time out"}


def workload_tables(figures: Figures) -> str:
    """Return all tables; empty where the workload was not asked for."""
    texts = [text for series in all_series(figures) for text in _of_series(figures, series)]
    return "\n\n".join([*texts, *_tight(figures)])


def workload_summary(figures: Figures) -> str:
    """Return one table with a row for each series and peer; empty without the workload."""
    found = list(all_series(figures))
    if not found:
        return ""
    rows = [
        [series.label, *_summary_row(figures, series, peer)]
        for series in found
        for peer in figures.peers_of(points_of(figures, series)[0].name)
    ]
    return f"{_SUMMARY_SAID}\n\n{table(['case', *_SUMMARY_HEAD], rows, left=2)}"


def _of_series(figures: Figures, series: Series) -> Iterator[str]:
    points = points_of(figures, series)
    peers = list(figures.peers_of(points[0].name))
    yield f"### Case {series.case} ({_TITLES[series.case]}), {series.conditions}"
    yield _SUMMARY_SAID
    yield table(_SUMMARY_HEAD, [_summary_row(figures, series, peer) for peer in peers])
    if notes := _left_out(figures, points, peers):
        yield bullets(notes)
    rows = [
        [
            number(float(point.request["rate"])),
            peer,
            *(_cell(figures, point.name, peer, each) for each in _COLUMNS),
        ]
        for point in points
        for peer in peers
        if not figures.reason(point.name, peer)
    ]
    head = ["target, 1/s", "peer", *(each.label for each in _COLUMNS)]
    yield '<details markdown="1">\n<summary>Every point</summary>'
    yield table(head, rows, left=2)
    yield "</details>"


def _left_out(figures: Figures, points: Sequence[Setting], peers: Sequence[str]) -> list[str]:
    """Return notes: from which target on a peer was not measured, and why."""
    notes = []
    for peer in peers:
        first: dict[str, str] = {}
        for point in points:
            if reason := figures.reason(point.name, peer):
                first.setdefault(reason, number(float(point.request["rate"])))
        notes += [
            f"not measured: {peer}, from {rate}/s on: {reason}" for reason, rate in first.items()
        ]
    return notes


def _summary_row(figures: Figures, series: Series, peer: str) -> list[str]:
    held = held_rates(figures, peer, series, share=HELD_SHARE, lag_ms=None)
    if held is None:
        return [peer, "not measured", *([NONE] * len(_COLUMNS))]
    achieved = [
        found.median
        for point in points_of(figures, series)
        if (found := figures.summary(point.name, peer, "achieved")) is not None
    ]
    name = rate_setting_name(series, GOAL_RATE)
    cells = [_cell(figures, name, peer, each) for each in _COLUMNS[1:]]
    return [peer, number(max(held)) if held else "none", number(max(achieved)), *cells]


def _cell(figures: Figures, setting: str, peer: str, quantity: Quantity) -> str:
    found = figures.summary(setting, peer, quantity.source)
    return NONE if found is None else told(found, quantity.digits)


def _tight(figures: Figures) -> Iterator[str]:
    curves = {(curve.setting, curve.peer): curve for file in figures.files for curve in file.curves}
    for series in all_series(figures, TIGHT):
        points = points_of(figures, series, TIGHT)
        peers = [
            peer
            for peer in figures.peers_of(points[0].name)
            if any((point.name, peer) in curves for point in points)
        ]
        limits = {curves[key].limit_mib for key in curves if key[0] == points[0].name}
        limit = ", ".join(f"{each:,.1f} MiB" for each in sorted(limits)) or "none was found"
        yield f"### Case {series.label}, with a limit on resident memory"
        yield f"The limit: {limit}. Peak of the resident memory, MiB, at each target rate."
        rows = [
            [
                number(float(point.request["rate"])),
                *(
                    _peak(figures, curves.get((point.name, peer)), point.name, peer)
                    for peer in peers
                ),
            ]
            for point in points
        ]
        yield table(["target, 1/s", *peers], rows)


def _peak(figures: Figures, curve: Curve | None, setting: str, peer: str) -> str:
    if curve is None or not curve.mib:
        return figures.reason(setting, peer) or NONE
    if curve.exceeded:
        return f"**beyond the limit after {curve.seconds[-1]:.1f} s**"
    text = number(max(curve.mib), 1)
    reason = figures.reason(setting, peer)
    return f"{text} ({reason})" if reason else text
