"""The goals of the implementation, and what files of results say of each.

A goal speaks of one or more figures. A goal is met where every figure is within the figure to
reach, and exceeded where every figure is within the figure to aim at. A single figure beyond the
figure to reach misses the goal; where no figure is beyond it but some are missing, nothing is
decided.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from purgatory_lab.benchmarks.bench.catalogue import (
    OWN,
    READY_MADE,
    THREAD,
    payload_label,
    pending_label,
    purgatory_label,
    setting_name,
)
from purgatory_lab.benchmarks.bench.figures import Figures, Summary
from purgatory_lab.benchmarks.bench.sweep_plan import (
    HELD_SHARE,
    Series,
    held_rates,
    rate_setting_name,
)

OURS: Final = "compiled"
KAFKA: Final = "kafka"

MANY: Final = (100_000, 1_000_000)
WAITING: Final = (10_000, 100_000)
GROWTH: Final = (10_000, 1_000_000)
EVENT_KEYS: Final = 10_000
GOAL_RATE: Final = 105_000
GOAL_SERIES: Final = Series("high", 3)
LAG_MS: Final = 20.0


class GoalVerdict(Enum):
    """The verdict on a goal."""

    AIM = "aim met"
    MET = "met"
    MISSED = "missed"
    NOT_MEASURED = "not measured"
    NO_BOUND = "no bound"


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
    """A goal: two quantities that are compared, and a bound.

    Attributes:
        title: The two quantities that are compared.
        reach: The figure to reach; None where the figure is only told.
        aim: The figure to aim at, if there is one.
        parts: Finds the figures.
        share: Whether figures are shown as per cent above 1.
        rate: Whether they are requests a second, of which more is better.
    """

    title: str
    reach: float | None
    aim: float | None
    parts: Callable[[Figures], Sequence[Part]]
    share: bool = False
    rate: bool = False

    def within(self, value: float, bound: float) -> bool:
        """Decide whether a value is as good as the bound."""
        return value >= bound if self.rate else value <= bound


@dataclass(frozen=True)
class Judged:
    """A goal with the figures it is judged by and the verdict."""

    goal: Goal
    parts: Sequence[Part]
    verdict: GoalVerdict


StatedMedians: TypeAlias = Mapping[tuple[str, str], float]
"""The medians by goal and figure, where files of results have no such figure."""


def judge(figures: Figures, stated: StatedMedians | None = None) -> list[Judged]:
    """Return every goal with its verdict."""
    return [_judge(goal, figures, stated or {}) for goal in GOALS]


def _judge(goal: Goal, figures: Figures, stated: StatedMedians) -> Judged:
    parts = [_or_stated(part, stated.get((goal.title, part.label))) for part in goal.parts(figures)]
    medians = [part.measured.median for part in parts if part.measured is not None]
    if goal.reach is None:
        verdict = GoalVerdict.NO_BOUND
    elif not all(goal.within(value, goal.reach) for value in medians):
        verdict = GoalVerdict.MISSED
    elif not medians or len(medians) < len(parts):
        verdict = GoalVerdict.NOT_MEASURED
    elif goal.aim is not None and all(goal.within(value, goal.aim) for value in medians):
        verdict = GoalVerdict.AIM
    else:
        verdict = GoalVerdict.MET
    return Judged(goal, parts, verdict)


def together(verdicts: Sequence[GoalVerdict]) -> GoalVerdict:
    """Return the verdict of several machines: the worst of theirs."""
    order = (
        GoalVerdict.NO_BOUND,
        GoalVerdict.MISSED,
        GoalVerdict.NOT_MEASURED,
        GoalVerdict.MET,
        GoalVerdict.AIM,
    )
    return min(verdicts, key=order.index, default=GoalVerdict.NOT_MEASURED)


def _or_stated(part: Part, median: float | None) -> Part:
    if part.measured is not None or median is None:
        return part
    return Part(part.label, Summary(median, median, median, 1))


def _part(
    figures: Figures,
    label: str,
    above: tuple[str, str],
    below: tuple[str, str],
    source: str,
    source_below: str = "",
) -> Part:
    """Return a ratio within rounds, or the reason why it is missing."""
    found = figures.ratio(above, below, source, source_below)
    if found is not None:
        return Part(label, found)
    for setting, peer in (above, below):
        if reason := figures.reason(setting, peer):
            return Part(label, None, f"{peer}: {reason}")
    return Part(label, None, "no round has a figure of both")


def _against_kafka(measure: str) -> Callable[[Figures], Sequence[Part]]:
    """Return the parts of ours and Kafka's in the same settings, with many timers."""

    def parts(figures: Figures) -> Sequence[Part]:
        found = []
        for size in MANY:
            label = pending_label(size)
            name = setting_name(measure, label)
            found.append(_part(figures, label, (name, OURS), (name, KAFKA), THREAD))
        return found

    return parts


def _purgatory(kind: str = "", source: str = THREAD) -> Callable[[Figures], Sequence[Part]]:
    def parts(figures: Figures) -> Sequence[Part]:
        found = []
        for operations in WAITING:
            name = setting_name("purgatory", purgatory_label(3, operations, kind))
            sides = (name, OURS), (name, KAFKA)
            found.append(_part(figures, f"{operations:,}", *sides, source, THREAD))
        return found

    return parts


def _event(figures: Figures) -> Sequence[Part]:
    name = setting_name("event", pending_label(EVENT_KEYS))
    return [_part(figures, f"{EVENT_KEYS:,} keys", (name, OURS), (name, KAFKA), "p99_ns")]


def _growth(figures: Figures) -> Sequence[Part]:
    found = []
    for measure in ("hot/virtual", "fifo/virtual"):
        few, many = (setting_name(measure, pending_label(size)) for size in GROWTH)
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


GOALS: Final = (
    Goal("add a timer and cancel it", 0.8, 0.6, _against_kafka("hot/virtual")),
    Goal("cancel a timer drawn at random, add one", 1.0, 0.8, _against_kafka("random/virtual")),
    Goal("add a timer and let it expire", 1.3, 0.8, _against_kafka("expire/virtual")),
    Goal("watch under 3 keys and complete, a user's interpreted class", 2.5, 1.2, _purgatory()),
    Goal("the same, operations made of callables", 1.8, 1.2, _purgatory(READY_MADE)),
    Goal("the same, the implementation's own share", None, None, _purgatory(source=OWN)),
    Goal("one event that completes an operation, 99th percentile", 5, 2, _event),
    Goal(
        "proposal's workload, many time-outs: requests a second in one process",
        105_000,
        150_000,
        _held,
        rate=True,
    ),
    Goal("processor time per request there", 1.25, 1.0, _cpu),
    Goal("growth from 10,000 to 1,000,000 pending", 1.03, None, _growth, share=True),
    Goal("bytes of a pending operation without payload", 0.95, 0.8, _bytes),
)
"""The goals in the order of the table."""
