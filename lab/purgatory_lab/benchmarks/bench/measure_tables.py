"""The tables of the measures: every peer, every setting, and ratios to Kafka."""

from collections.abc import Iterator, Sequence
from typing import Final

from purgatory_lab.benchmarks.bench.catalogue import MEASURES, PROCESS, THREAD, Measure, Quantity
from purgatory_lab.benchmarks.bench.figures import NOT_OFFERED, Figures
from purgatory_lab.benchmarks.bench.results import Setting
from purgatory_lab.benchmarks.bench.roster import ROLLS
from purgatory_lab.benchmarks.bench.words import NONE, bullets, number, table, told

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
                _cell(quantity, figures, setting.name, peer),
                _ratio(quantity, figures, setting.name, peer),
            ]
        rows.append(row)
    return table(head, rows)


def _cell(quantity: Quantity, figures: Figures, setting: str, peer: str) -> str:
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
