"""The contents of the picture of a failing case: states, levels, differences, the axis.

The picture is a column of *panels*, one for each state of the model on the way to the diverging
step, all on one time axis. The last panel is the state that was expected after that step. How a
scene is drawn is the business of ``wheel_picture``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.describing.words import describe_task, shortened
from purgatory_conformance.drawing.comparison import (
    Comparison,
    comparisons,
    diverging_tasks,
    states_of,
)
from purgatory_conformance.drawing.time_axis import (
    TimeAxis,
    label_distance,
    text_width,
    time_axis,
)
from purgatory_judge.components import narrowed
from purgatory_judge.judgement import Divergence
from purgatory_judge.retraced_case import RetracedCase
from purgatory_judge.timer.history import State
from purgatory_model.arithmetic import floor_to, tick_of_level
from purgatory_model.timer import TimerState
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

LEFT = 150.0
"""The place where the time axis begins; to its left stand the names of lanes and rows."""

_USUAL_WIDTH = 720.0
_MOST_WIDTH = 1150.0
_MOST_LANES = 18
_MOST_PANELS = 5
_MOST_LEVELS = 7
_MOST_LETTERS = 16

_MARK, _CLOCK, _BUCKET, _EDGE, _SILENT = 4, 3, 2, 1, 0
"""The weights of the labels of times: the most important is the largest; a silent time has none."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A state of the model, with a title."""

    title: str
    state: State


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a picture shows. ``levels`` is empty where the timer is no wheel."""

    panels: tuple[Panel, ...]
    levels: tuple[int, ...]
    differences: tuple[Comparison, ...]
    focus: frozenset[str]
    """The tasks that the divergence is about."""
    axis: TimeAxis
    labels: tuple[int, ...]
    """The times that are written on the axis."""
    configuration: TimerConfiguration

    def tick_of(self, level: int) -> int:
        """Return the tick of a level, ms."""
        return tick_of_level(level, self.configuration.tick_ms, self.configuration.wheel_size)


def scene_of(case: RetracedCase) -> Scene:
    """Return the scene of a failing case of a timer that was judged anew."""
    configuration = narrowed(case.configuration, TimerConfiguration)
    profile = narrowed(case.profile, TimerProfile)
    differences = comparisons(case.divergence, configuration, profile)
    states = [state for state in case.states if isinstance(state, TimerState)]
    levels = _levels(states, case.divergence)
    panels = _panels(case, states, lanes=max(len(levels), 1))
    stops = _Stops(configuration, levels)
    for panel in panels:
        stops.take_in(panel.state)
    for row in differences:
        stops.mark(row)
    axis = time_axis(
        stops.importance,
        stops.all_rooms(),
        unit_ms=configuration.tick_ms,
        left=LEFT,
        width=_USUAL_WIDTH,
        most_width=_MOST_WIDTH,
    )
    return Scene(
        panels=panels,
        levels=levels,
        differences=differences,
        focus=diverging_tasks(case.divergence),
        axis=axis,
        labels=tuple(axis.labels(stops.importance)),
        configuration=configuration,
    )


def short_names(tasks: Iterable[str]) -> str:
    """Return the names of tasks in the given order, short enough for a bucket."""
    shown = [describe_task(task) for task in tasks]
    words = " ".join(shown)
    if len(words) <= _MOST_LETTERS:
        return words
    first = shortened(shown[0], _MOST_LETTERS - 4)
    return f"{first} +{len(shown) - 1}" if len(shown) > 1 else first


def _levels(states: Sequence[State], divergence: Divergence) -> tuple[int, ...]:
    """Return the levels to draw: all, or where there are many the lowest and those in use."""
    shown = [*states, *(s for s in states_of(divergence) if s is not None)]
    wheels = [state.store for state in shown if isinstance(state.store, TimingWheel)]
    highest = max((wheel.levels for wheel in wheels), default=0)
    if highest <= _MOST_LEVELS:
        return tuple(range(1, highest + 1))
    used = sorted({level for wheel in wheels for _, level in wheel.buckets} | {1, 2})
    return tuple(used if len(used) <= _MOST_LEVELS else [*used[: _MOST_LEVELS - 1], used[-1]])


def _panels(case: RetracedCase, states: Sequence[State], lanes: int) -> tuple[Panel, ...]:
    """Return the last states on the way, without those like the next one, and the expected."""
    words = [describe_operation(step.operation) for step in case.steps]
    last = len(states)
    panels: list[Panel] = []
    begin = 0
    for index, state in enumerate(states):
        if index + 1 < last and _look(states[index + 1]) == _look(state):
            continue
        panels.append(Panel(_title(max(begin, 1), index, words), state))
        begin = index + 1
    panels = panels[-max(min(_MOST_LANES // lanes, _MOST_PANELS) - 1, 1) :]
    after = states_of(case.divergence)[1]
    if after is not None:
        panels.append(Panel(f"expected after step {last}: {words[last - 1]}", after))
    return tuple(panels)


def _title(first: int, last: int, words: list[str]) -> str:
    if last == 0:
        return "at first"
    if first == last:
        return f"after step {last}: {words[last - 1]}"
    return f"after steps {first} {'and' if last == first + 1 else 'to'} {last}"


def _look(state: State) -> object:
    return state.now_ms, state.store, state.closed


class _Stops:
    """The times that matter, each with its importance, and the room that texts need."""

    def __init__(self, configuration: TimerConfiguration, levels: tuple[int, ...]) -> None:
        self.importance: dict[int, int] = {}
        self._rooms: list[tuple[int, int, float]] = []
        self._configuration = configuration
        self._levels = levels

    def take_in(self, state: State) -> None:
        self._stop(state.now_ms, _CLOCK)
        if isinstance(state.store, TimingWheel):
            self._wheel(state.store)
            return
        ticks: dict[int, list[str]] = {}
        for task, due_tick in state.store.due_ticks.items():
            self._stop(due_tick, _CLOCK)
            ticks.setdefault(due_tick, []).append(task)
        due = sorted(ticks)
        for one, other in pairwise(due):
            self._rooms.append((one, other, text_width(short_names(sorted(ticks[one]))) + 16))

    def mark(self, row: Comparison) -> None:
        for time_ms in (row.expected_ms, row.seen_ms):
            if time_ms is not None:
                self._stop(time_ms, _MARK)

    def all_rooms(self) -> list[tuple[int, int, float]]:
        """Return the rooms of buckets, and those of labels that should not be left out."""
        labelled = sorted(t for t, weight in self.importance.items() if weight >= _BUCKET)
        between = [(a, b, label_distance(a, b)) for a, b in pairwise(labelled)]
        return [*self._rooms, *between]

    def _wheel(self, wheel: TimingWheel) -> None:
        tick_ms, size = self._configuration.tick_ms, self._configuration.wheel_size
        self._stop(wheel.own_clock_ms, _CLOCK)
        for level in self._levels:
            if level <= wheel.levels:
                tick = tick_of_level(level, tick_ms, size)
                start = floor_to(wheel.own_clock_ms, tick)
                self._stop(start, _EDGE)
                self._stop(start + tick, _SILENT)
                self._stop(start + tick * size, _EDGE)
        for (expiry, level), tasks in wheel.buckets.items():
            end = expiry + tick_of_level(level, tick_ms, size)
            self._stop(expiry, _BUCKET)
            self._stop(end, _SILENT)
            words = short_names(sorted(tasks)) or "emptied"
            self._rooms.append((expiry, end, text_width(words) + 8))
        for due_tick in wheel.due_ticks.values():
            self._stop(due_tick, _EDGE)

    def _stop(self, time_ms: int, weight: int) -> None:
        self.importance[time_ms] = max(weight, self.importance.get(time_ms, 0))
