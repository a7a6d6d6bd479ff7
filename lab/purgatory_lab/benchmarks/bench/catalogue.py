"""The measures: their figures, and the settings that peers are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from purgatory_lab.benchmarks.bench.results import Setting

THREAD: Final = "thread_cpu_ns"
PROCESS: Final = "process_cpu_ns"
OWN: Final = "own_ns"
READY_MADE: Final = "ready-made"


@dataclass(frozen=True)
class Quantity:
    """A figure that is taken from an answer.

    Attributes:
        source: ``thread_cpu_ns``, ``process_cpu_ns`` or ``wall_ns``, which count for each
            operation; or a key of the answer's detail, which counts as it is.
        label: The figure's name in tables.
        unit: Of the figure.
        digits: Behind the point.
    """

    source: str
    label: str
    unit: str
    digits: int = 0


_THREAD_NS: Final = Quantity(THREAD, "processor time of the measuring thread", "ns")
_PROCESS_NS: Final = Quantity(PROCESS, "processor time of the process", "ns")


@dataclass(frozen=True)
class Measure:
    """A kind of thing that is measured.

    Attributes:
        name: As in requests.
        title: For people.
        quantities: The quantities reported; ratios are formed of the first.
        across: The parameter in which the settings differ.
    """

    name: str
    title: str
    quantities: tuple[Quantity, ...]
    across: str


_PATTERNS: Final = {
    "hot": "add and cancel at once",
    "fifo": "cancel the oldest, add",
    "random": "cancel one at random, add",
    "expire": "add and expire",
}
_CLOCKS: Final = {"virtual": "the caller leads the clock", "system": "thread-safe, real clock"}

MEASURES: Final = (
    *(
        Measure(
            f"{pattern}/{clock}",
            f"{_PATTERNS[pattern]}; {_CLOCKS[clock]}",
            (_PROCESS_NS,) if pattern == "expire" and clock == "system" else (_THREAD_NS,),
            "timers" if pattern == "expire" else "pending",
        )
        for clock in _CLOCKS
        for pattern in _PATTERNS
    ),
    Measure(
        "purgatory",
        "watch an operation under three keys, complete it",
        (
            _THREAD_NS,
            Quantity(OWN, "without the loop, the making of operations and their tries", "ns"),
        ),
        "keys",
    ),
    Measure(
        "event",
        "one event that completes an operation",
        (
            Quantity("median_ns", "median, by the clock", "ns"),
            Quantity("p99_ns", "99th percentile, by the clock", "ns"),
        ),
        "keys of the operation",
    ),
    Measure("pool", "allocate a buffer and release it", (_THREAD_NS,), "bytes"),
    Measure(
        "memory/timer",
        "memory of a pending timer",
        (Quantity("bytes", "memory", "bytes"),),
        "pending",
    ),
    Measure(
        "memory/purgatory",
        "memory of an operation that waits under three keys",
        (Quantity("bytes", "memory", "bytes"),),
        "payload",
    ),
    Measure(
        "pause",
        "longest pause of a caller while timers fall due",
        (
            Quantity("max_ms", "longest gap", "ms", 2),
            Quantity("p999_ms", "gap that one in a thousand exceeds", "ms", 4),
        ),
        "falling due",
    ),
)
"""The measures in the order of the tables."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of all measures.

    Attributes:
        pending: Numbers of pending timers; of ``expire``, of timers in all.
        operations: Of the timer's measures, and of the pool's.
        waiting: Operations of ``purgatory``.
        remembered: Pending for ``memory``.
        due: Timers that fall due in ``pause``.
        events: Keys of an operation, and how many operations are measured, of ``event``.
    """

    pending: tuple[int, ...]
    operations: int
    waiting: tuple[int, ...]
    remembered: int
    due: int
    events: tuple[tuple[int, int], ...]


FULL: Final = Sizes(
    pending=(10_000, 100_000, 1_000_000),
    operations=200_000,
    waiting=(10_000, 100_000),
    remembered=1_000_000,
    due=100_000,
    events=((1, 10_000), (1_000, 1_000), (10_000, 200)),
)
"""The sizes of the published figures."""

QUICK: Final = Sizes(
    pending=(10_000,),
    operations=20_000,
    waiting=(10_000,),
    remembered=20_000,
    due=10_000,
    events=((1, 2_000), (1_000, 100)),
)
"""The sizes of some minutes in all; too small for goals that speak of 100,000 and more."""

_PAUSE_MS: Final = 3000


def settings(sizes: Sizes) -> list[Setting]:
    """Return every setting, those of one measure side by side."""
    made: list[Setting] = []
    for measure in MEASURES:
        made += _settings_of(measure.name, sizes)
    return made


def setting_name(measure: str, label: str) -> str:
    """Return the name of a setting, by which goals name it, too."""
    return f"{measure}, {label}"


def pending_label(pending: int) -> str:
    """Return the label of a setting with so many pending."""
    return f"{pending:,}"


def purgatory_label(keys: int, operations: int, kind: str = "") -> str:
    """Return the label of a ``purgatory`` setting; interpreted operations are not named."""
    said = f"{keys:,} keys, {operations:,} operations"
    return f"{said}, {kind}" if kind else said


def payload_label(payload: int) -> str:
    """Return the label of a ``memory/purgatory`` setting."""
    return f"{payload} bytes" if payload else "none"


def _settings_of(measure: str, sizes: Sizes) -> Sequence[Setting]:
    ask = partial(_setting, measure)
    kind = measure if measure.startswith("memory/") else measure.partition("/")[0]
    match kind:
        case "expire":
            return [ask(pending_label(each), operations=each) for each in sizes.pending]
        case "purgatory":
            interpreted = [
                ask(purgatory_label(keys, each), operations=each, keys=keys, payload=0)
                for keys in (3, 1000)
                for each in sizes.waiting
            ]
            ready_made = [
                ask(
                    purgatory_label(3, each, READY_MADE),
                    operations=each,
                    keys=3,
                    payload=0,
                    operation=READY_MADE,
                )
                for each in sizes.waiting
            ]
            return [*interpreted, *ready_made]
        case "event":
            return [
                ask(pending_label(keys), operations=count, keys=keys)
                for keys, count in sizes.events
            ]
        case "pool":
            asked = sizes.operations
            return [
                ask(pending_label(each), operations=asked, bytes=each) for each in (100, 16_384)
            ]
        case "memory/timer":
            return [ask(pending_label(sizes.remembered), pending=sizes.remembered)]
        case "memory/purgatory":
            return [
                ask(payload_label(each), pending=sizes.remembered, keys=3, payload=each)
                for each in (0, 100)
            ]
        case "pause":
            return [ask(pending_label(sizes.due), pending=sizes.due, operations=_PAUSE_MS)]
        case _:
            asked = sizes.operations
            return [
                ask(pending_label(each), pending=each, operations=asked) for each in sizes.pending
            ]


def _setting(
    measure: str, label: str, pending: int = 0, operations: int = 1, **request: int | str
) -> Setting:
    asked = {"measure": measure, "pending": pending, "operations": operations, **request}
    return Setting(setting_name(measure, label), measure, label, asked)
