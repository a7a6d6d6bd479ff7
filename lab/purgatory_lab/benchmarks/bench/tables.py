"""The tables of the measures, and of the proposal's workload with and without a limit on memory."""

from collections.abc import Iterator, Sequence
from typing import Final

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, PROCESS, THREAD, Measure, Quantity
from purgatory_lab.benchmarks.bench.figures import NOT_OFFERED, Figures, told
from purgatory_lab.benchmarks.bench.goals import GOAL_RATE
from purgatory_lab.benchmarks.bench.results import Curve, Setting
from purgatory_lab.benchmarks.bench.roster import ROLLS
from purgatory_lab.benchmarks.bench.sweep_plan import (
    HELD_SHARE,
    TIGHT,
    Series,
    all_series,
    held_rates,
    points_of,
    rate_setting_name,
)
from purgatory_lab.documents import NONE, bullets, number, table

REFERENCE: Final = "kafka"
_WHOLE: Final = frozenset(roll.name for roll in ROLLS if roll.whole)
_RATIO_DIGITS: Final = 2
_LEAST_PROCESS_NS: Final = 100e6


def measure_tables(figures: Figures) -> str:
    """Return all tables, each with its heading; empty where no measure was asked for."""
    return "\n\n".join(text for measure in MEASURES for text in _of_measure(measure, figures))


def _of_measure(measure: Measure, figures: Figures) -> Iterator[str]:
    settings = [each for each in figures.settings.values() if each.measure == measure.name]
    if not settings:
        return
    yield f"### `{measure.name}`: {measure.title}"
    peers = list(figures.peers_of(settings[0].name))
    idle = [peer for peer in peers if _is_never_offered(figures, settings, peer)]
    shown = [peer for peer in peers if peer not in idle]
    for quantity in measure.quantities:
        yield f"{_sentence(quantity, figures, settings)} Columns: {measure.across}."
        yield _table(quantity, figures, settings, shown)
    if notes := list(_notes(figures, settings, shown, idle)):
        yield bullets(notes)


def _is_never_offered(figures: Figures, settings: Sequence[Setting], peer: str) -> bool:
    return all(figures.reason(each.name, peer) == NOT_OFFERED for each in settings)


def _sentence(quantity: Quantity, figures: Figures, settings: Sequence[Setting]) -> str:
    rounds = {
        found.rounds
        for setting in settings
        for peer in figures.peers_of(setting.name)
        if (found := figures.summary(setting.name, peer, quantity.source)) is not None
    }
    said = f"{quantity.label[0].upper()}{quantity.label[1:]}, {quantity.unit}"
    if quantity.source in (THREAD, PROCESS):
        said += " for each operation"
    if not rounds:
        return f"{said}."
    return f"{said}: median [least to most] of {max(rounds)} rounds."


def _table(
    quantity: Quantity, figures: Figures, settings: Sequence[Setting], peers: Sequence[str]
) -> str:
    head = ["peer"]
    for setting in settings:
        head += [setting.label, f"to {REFERENCE}"]
    rows = []
    for peer in peers:
        row = [peer]
        for setting in settings:
            row += [
                _measured_cell(quantity, figures, setting.name, peer),
                _ratio(quantity, figures, setting.name, peer),
            ]
        rows.append(row)
    return table(head, rows)


def _measured_cell(quantity: Quantity, figures: Figures, setting: str, peer: str) -> str:
    if reason := figures.reason(setting, peer):
        return NOT_OFFERED if reason == NOT_OFFERED else "not measured"
    found = figures.summary(setting, peer, quantity.source)
    text = "not told" if found is None else told(found, quantity.digits)
    if quantity.source == THREAD and peer in _WHOLE:
        whole = figures.summary(setting, peer, PROCESS)
        if whole is not None and _is_fine_enough(figures, setting, whole.median):
            text += f"; process {number(whole.median, quantity.digits)}"
    return text


def _is_fine_enough(figures: Figures, setting: str, each_ns: float) -> bool:
    """Decide whether a process took so long that steps of 10 ms do not matter."""
    operations = figures.settings[setting].request["operations"]
    return each_ns * float(operations) >= _LEAST_PROCESS_NS


def _ratio(quantity: Quantity, figures: Figures, setting: str, peer: str) -> str:
    if peer == REFERENCE:
        return NONE
    found = figures.ratio((setting, peer), (setting, REFERENCE), quantity.source)
    return NONE if found is None else told(found, _RATIO_DIGITS)


def _notes(
    figures: Figures, settings: Sequence[Setting], peers: Sequence[str], idle: Sequence[str]
) -> Iterator[str]:
    for setting in settings:
        for peer in peers:
            reason = figures.reason(setting.name, peer)
            if reason and reason != NOT_OFFERED:
                yield f"not measured: {peer}, {setting.label}: {reason}"
    if idle:
        yield f"not offered by {', '.join(idle)}"


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
