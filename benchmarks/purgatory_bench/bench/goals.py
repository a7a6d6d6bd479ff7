"""The goals of the implementation, and what files of results say of each.

A goal speaks of one or more figures. A goal is met where every figure is within the figure to
reach, and exceeded where every figure is within the figure to aim at. A single figure beyond the
figure to reach misses the goal; where no figure is beyond it but some are missing, nothing is
decided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from purgatory_bench.bench.catalogue import (
    THREAD,
    payload_label,
    pending_label,
    purgatory_label,
    setting_name,
)
from purgatory_bench.bench.figures import Figures
from purgatory_bench.bench.statistics import Summary
from purgatory_bench.bench.sweep_plan import HELD_SHARE, Series, held_rates, rate_setting_name

OURS: Final = "compiled"
PURE: Final = "pure"
KAFKA: Final = "kafka"

SIZES: Final = (10_000, 100_000, 1_000_000)
GOAL_RATE: Final = 105_000
GOAL_SERIES: Final = Series("high", 3)
LAG_MS: Final = 20.0


class GoalVerdict(Enum):
    """What became of a goal."""

    AIM = "aim met"
    MET = "met"
    MISSED = "missed"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Part:
    """A figure that a goal is judged by.

    Attributes:
        label: The name of the figure.
        measured: The figure; None where it was not measured.
        reason: Why the figure is missing.
    """

    label: str
    measured: Summary | None
    reason: str = ""


@dataclass(frozen=True)
class Goal:
    """A goal.

    Attributes:
        title: The two quantities that are compared.
        reach: The figure to reach.
        aim: The figure to aim at, if there is one.
        parts: Finds the figures.
        share: Whether figures are shown as per cent above 1.
        rate: Whether they are requests a second, of which more is better.
    """

    title: str
    reach: float
    aim: float | None
    parts: Callable[[Figures], Sequence[Part]]
    share: bool = False
    rate: bool = False

    def within(self, value: float, bound: float) -> bool:
        """Whether a value is as good as the bound."""
        return value >= bound if self.rate else value <= bound


@dataclass(frozen=True)
class Judged:
    """A goal with the figures it is judged by and the verdict."""

    goal: Goal
    parts: Sequence[Part]
    verdict: GoalVerdict


def judge(figures: Figures) -> list[Judged]:
    """Every goal."""
    return [_judge(goal, figures) for goal in GOALS]


def _judge(goal: Goal, figures: Figures) -> Judged:
    parts = goal.parts(figures)
    medians = [part.measured.median for part in parts if part.measured is not None]
    if not all(goal.within(value, goal.reach) for value in medians):
        verdict = GoalVerdict.MISSED
    elif not medians or len(medians) < len(parts):
        verdict = GoalVerdict.NOT_MEASURED
    elif goal.aim is not None and all(goal.within(value, goal.aim) for value in medians):
        verdict = GoalVerdict.AIM
    else:
        verdict = GoalVerdict.MET
    return Judged(goal, parts, verdict)


def _part(
    figures: Figures, label: str, above: tuple[str, str], below: tuple[str, str], source: str
) -> Part:
    """A ratio within rounds, or why there is none."""
    found = figures.ratio(above, below, source)
    if found is not None:
        return Part(label, found)
    for setting, peer in (above, below):
        if reason := figures.reason(setting, peer):
            return Part(label, None, f"{peer}: {reason}")
    return Part(label, None, "no round has a figure of both")


def _against(
    above: str, below: str, measures: Sequence[str], sizes: Sequence[int], source: str = THREAD
) -> Callable[[Figures], Sequence[Part]]:
    """Two peers in the same settings, for each measure and size."""

    def parts(figures: Figures) -> Sequence[Part]:
        found = []
        for measure in measures:
            for size in sizes:
                label = pending_label(size)
                name = setting_name(measure, label)
                said = f"{measure.partition('/')[0]} {label}"
                found.append(_part(figures, said, (name, above), (name, below), source))
        return found

    return parts


def _purgatory(above: str, below: str) -> Callable[[Figures], Sequence[Part]]:
    def parts(figures: Figures) -> Sequence[Part]:
        found = []
        for operations in SIZES[:2]:
            name = setting_name("purgatory", purgatory_label(3, operations))
            said = f"purgatory {operations:,}"
            found.append(_part(figures, said, (name, above), (name, below), THREAD))
        return found

    return parts


def _growth(figures: Figures) -> Sequence[Part]:
    found = []
    for measure in ("hot/virtual", "fifo/virtual"):
        few, many = (setting_name(measure, pending_label(size)) for size in (SIZES[0], SIZES[-1]))
        said = measure.partition("/")[0]
        found.append(_part(figures, said, (many, OURS), (few, OURS), THREAD))
    return found


def _bytes(figures: Figures) -> Sequence[Part]:
    name = setting_name("memory/purgatory", payload_label(0))
    return [_part(figures, "three keys", (name, OURS), (name, KAFKA), "bytes")]


def _held(figures: Figures) -> Sequence[Part]:
    rates = held_rates(figures, OURS, GOAL_SERIES, share=HELD_SHARE, lag_ms=LAG_MS)
    label = f"highest rate held, p99 lag up to {LAG_MS:.0f} ms"
    if rates is None:
        name = rate_setting_name(GOAL_SERIES, GOAL_RATE)
        return [Part(label, None, f"{OURS}: {figures.reason(name, OURS)}")]
    best = max(rates, default=0.0)
    return [Part(label, Summary(best, best, best, 1))]


def _cpu(figures: Figures) -> Sequence[Part]:
    name = rate_setting_name(GOAL_SERIES, GOAL_RATE)
    label = f"at {GOAL_RATE:,} requests a second"
    return [_part(figures, label, (name, OURS), (name, KAFKA), "cpu_us")]


def _pure(figures: Figures) -> Sequence[Part]:
    timer = ("hot/virtual", "fifo/virtual", "random/virtual", "expire/virtual")
    return [*_against(PURE, OURS, timer, SIZES)(figures), *_purgatory(PURE, OURS)(figures)]


_REPLACING_VIRTUAL: Final = ("hot/virtual", "fifo/virtual", "random/virtual")
_REPLACING_SYSTEM: Final = ("hot/system", "fifo/system", "random/system")

GOALS: Final = (
    Goal(
        "add and cancel, against Kafka's wheel",
        1.0,
        0.7,
        _against(OURS, KAFKA, _REPLACING_VIRTUAL, SIZES),
    ),
    Goal(
        "add and cancel, thread-safe, real clock, against Kafka's `SystemTimer`",
        1.3,
        1.0,
        _against(OURS, KAFKA, _REPLACING_SYSTEM, SIZES),
    ),
    Goal(
        "add and expire, against Kafka's wheel",
        1.0,
        0.6,
        _against(OURS, KAFKA, ("expire/virtual",), SIZES),
    ),
    Goal(
        "purgatory: watch and complete, 3 keys, interpreted user operation, against Kafka",
        1.5,
        1.0,
        _purgatory(OURS, KAFKA),
    ),
    Goal(
        "proposal's workload, many time-outs, requests a second in one process",
        105_000,
        250_000,
        _held,
        rate=True,
    ),
    Goal("processor time per request there, against Kafka", 1.35, 1.0, _cpu),
    Goal("growth from 10,000 to 1,000,000 pending", 1.10, 1.05, _growth, share=True),
    Goal("bytes of a pending operation without payload, against Kafka", 1.0, 0.7, _bytes),
    Goal("pure build against the compiled one", 6.0, None, _pure),
)
"""In the order of the table."""
