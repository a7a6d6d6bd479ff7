"""A failing case as a picture: the wheel's levels below each other, the time from left to right.

The picture is a column of *panels*, one for each state of the model on the way to the diverging
step, all on one time axis. A panel of a timing wheel has a lane per level: the span that the level
covers, divided into buckets. The last panel is the state that was expected after the diverging
step; below it every difference is marked where it was expected and where it was seen. A timer
without a wheel has one lane with its pending tasks at their due ticks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from purgatory_conformance.judging.timer_history import State
from purgatory_conformance.reporting.comparison import (
    Comparison,
    comparisons,
    diverging_tasks,
    states_of,
)
from purgatory_conformance.reporting.results import CauseLine
from purgatory_conformance.reporting.states import describe_state
from purgatory_conformance.reporting.story import Retraced
from purgatory_conformance.reporting.svg import element, text, titled
from purgatory_conformance.reporting.time_axis import (
    TimeAxis,
    label_distance,
    text_width,
    time_axis,
)
from purgatory_conformance.reporting.words import describe_operation, describe_task, printable
from purgatory_model.arithmetic import floor_to, tick_of_level
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

_LEFT = 128.0
_RIGHT = 120.0
_USUAL_WIDTH = 720.0
_MOST_WIDTH = 1150.0
_LANE = 26.0
_BUCKET = 18.0
_ROW = 20.0
_MOST_LANES_IN_ALL = 26
_MOST_LEVELS_DRAWN = 7
_MOST_BUCKETS_DRAWN = 64
_NARROWEST_BUCKET = 5.0
_MOST_LETTERS = 16


@dataclass(frozen=True, slots=True)
class _Panel:
    """One state with what it is the state of."""

    title: str
    state: State


@dataclass(frozen=True, slots=True)
class _Picture:
    """What all panels have in common."""

    axis: TimeAxis
    labels: list[int]
    levels: tuple[int, ...]
    focus: frozenset[str]
    configuration: TimerConfiguration
    number: int

    def tick_of(self, level: int) -> int:
        return tick_of_level(level, self.configuration.tick_ms, self.configuration.wheel_size)


def wheel_picture(
    cause: CauseLine, retraced: Retraced, profile: TimerProfile, *, number: int
) -> str:
    """The picture of a failing case as SVG; ``number`` makes its ids unique on the page."""
    differences = comparisons(retraced.divergence, cause.configuration, profile)
    levels = _levels(retraced, cause.configuration.wheel_size)
    panels = _panels(cause, retraced, lanes=max(len(levels), 1))
    focus = diverging_tasks(retraced.divergence)
    importance, rooms = _stops(panels, levels, differences, cause.configuration)
    axis = time_axis(
        importance,
        rooms,
        unit_ms=cause.configuration.tick_ms,
        left=_LEFT,
        width=_USUAL_WIDTH,
        most_width=_MOST_WIDTH,
    )
    labels = axis.labels(importance)
    picture = _Picture(axis, labels, levels, focus, cause.configuration, number)
    return _draw(picture, cause, panels, differences)


def _levels(retraced: Retraced, wheel_size: int) -> tuple[int, ...]:
    """The levels to draw: all, or where there are many the lowest and those in use."""
    states = [*retraced.states, *states_of(retraced.divergence)]
    wheels = [s.store for s in states if s is not None and isinstance(s.store, TimingWheel)]
    if not wheels:
        return ()
    highest = max(wheel.levels for wheel in wheels)
    if highest <= _MOST_LEVELS_DRAWN:
        return tuple(range(1, highest + 1))
    used = sorted({level for wheel in wheels for _, level in wheel.buckets} | {1})
    return (*used[: _MOST_LEVELS_DRAWN - 1], *used[_MOST_LEVELS_DRAWN - 1 :][-1:])


def _panels(cause: CauseLine, retraced: Retraced, lanes: int) -> list[_Panel]:
    """The states on the way, those left out that look like the one before them."""
    last = len(retraced.states)
    words = [printable(describe_operation(step.operation)) for step in cause.steps]
    panels: list[_Panel] = []
    first_of_run = 0
    for index, state in enumerate(retraced.states):
        following = retraced.states[index + 1] if index + 1 < last else None
        if following is not None and _look(following) == _look(state):
            continue
        if first_of_run == index:
            title = f"after step {index}: {words[index - 1]}" if index else "at first"
        else:
            title = f"after step {index}" if first_of_run == 0 else f"after steps {first_of_run} to {index}"
        panels.append(_Panel(title, state))
        first_of_run = index + 1
    _, after = states_of(retraced.divergence)
    most = max(_MOST_LANES_IN_ALL // lanes - 1, 1)
    panels = panels[-most:]
    if after is not None:
        panels.append(_Panel(f"expected after step {last}: {words[last - 1]}", after))
    return panels


def _look(state: State) -> object:
    return state.now_ms, state.store, state.closed


def _stops(
    panels: list[_Panel],
    levels: tuple[int, ...],
    differences: tuple[Comparison, ...],
    configuration: TimerConfiguration,
) -> tuple[dict[int, int], list[tuple[int, int, float]]]:
    """The times that matter, each with its importance, and the room that texts need."""
    importance: dict[int, int] = {}
    rooms: list[tuple[int, int, float]] = []

    def stop(time_ms: int, weight: int) -> None:
        importance[time_ms] = max(weight, importance.get(time_ms, 0))

    for panel in panels:
        store = panel.state.store
        stop(panel.state.now_ms, 3)
        if not isinstance(store, TimingWheel):
            due = sorted({*store.due_ticks.values()})
            for time_ms in due:
                stop(time_ms, 3)
            for one, other in zip(due, due[1:], strict=False):
                names = [task for task, tick in store.due_ticks.items() if tick == one]
                rooms.append((one, other, text_width(_names(names)) + 16))
            continue
        stop(store.own_clock_ms, 3)
        for level in levels:
            tick = tick_of_level(level, configuration.tick_ms, configuration.wheel_size)
            start = floor_to(store.own_clock_ms, tick)
            stop(start, 1)
            stop(start + tick, 0)
            stop(start + tick * configuration.wheel_size, 1)
        for (expiry, level), tasks in store.buckets.items():
            if level in levels:
                end = expiry + tick_of_level(level, configuration.tick_ms, configuration.wheel_size)
                stop(expiry, 2)
                stop(end, 0)
                rooms.append((expiry, end, text_width(_names(tasks) or "emptied") + 8))
        for time_ms in store.due_ticks.values():
            stop(time_ms, 1)
    for row in differences:
        for time_ms in (row.expected_ms, row.seen_ms):
            if time_ms is not None:
                stop(time_ms, 4)
    labelled = sorted(time_ms for time_ms, weight in importance.items() if weight >= 2)
    for one, other in zip(labelled, labelled[1:], strict=False):
        rooms.append((one, other, label_distance(one, other)))
    return importance, rooms


def _names(tasks: Iterable[str]) -> str:
    """The names of tasks, short enough for a bucket."""
    shown = [describe_task(task) for task in sorted(tasks)]
    words = " ".join(shown)
    if len(words) <= _MOST_LETTERS:
        return words
    first = shown[0] if len(shown[0]) <= _MOST_LETTERS - 4 else f"{shown[0][: _MOST_LETTERS - 5]}…"
    return f"{first} +{len(shown) - 1}" if len(shown) > 1 else first


def _draw(
    picture: _Picture,
    cause: CauseLine,
    panels: list[_Panel],
    differences: tuple[Comparison, ...],
) -> str:
    width = picture.axis.places[-1] + _RIGHT
    root = element(None, "svg", xmlns="http://www.w3.org/2000/svg", role="img")
    identifiers = f"picture-{picture.number}-title", f"picture-{picture.number}-text"
    root.set("aria-labelledby", " ".join(identifiers))
    root.set("class", "wheel")
    element(root, "title", id=identifiers[0]).text = f"Cause {picture.number}: {cause.rule}"
    element(root, "desc", id=identifiers[1]).text = _description(cause, panels)
    _hatching(root, picture.number)
    grid = element(root, "g", cls="grid")
    y = 4.0
    y = _draw_axis(root, picture, y)
    for panel in panels:
        y = _draw_panel(root, picture, panel, y + 8)
    for row in differences:
        y = _draw_comparison(root, picture, row, y)
    y = _draw_axis(root, picture, y + 6)
    for label in picture.labels:
        x = picture.axis.x(label)
        element(grid, "line", x1=x, x2=x, y1=20, y2=y - 18)
    y = _draw_legend(root, picture, y + 8)
    root.set("viewBox", f"0 0 {width:.0f} {y:.0f}")
    root.set("width", f"{width:.0f}")
    root.set("height", f"{y:.0f}")
    return ET.tostring(root, encoding="unicode")


def _description(cause: CauseLine, panels: list[_Panel]) -> str:
    sentences = [f"{panel.title}: {describe_state(panel.state)}" for panel in panels]
    sentences += [f"expected {cause.expected}", f"seen {cause.seen}"]
    return printable(". ".join(sentences)) + "."


def _hatching(root: ET.Element, number: int) -> None:
    """The pattern of the present tick."""
    definitions = element(root, "defs")
    pattern = element(definitions, "pattern", id=f"hatch-{number}", width=6, height=6)
    pattern.set("patternUnits", "userSpaceOnUse")
    pattern.set("patternTransform", "rotate(45)")
    element(pattern, "rect", width=6, height=6, cls="hatch-ground")
    element(pattern, "line", x1=0, y1=0, x2=0, y2=6, cls="hatch-line")


def _draw_axis(root: ET.Element, picture: _Picture, y: float) -> float:
    axis = picture.axis
    group = element(root, "g", cls="axis")
    text(group, "ms", _LEFT - 12, y + 11, cls="unit", anchor="end")
    element(group, "line", x1=axis.places[0], x2=axis.places[-1], y1=y + 16, y2=y + 16)
    for label in picture.labels:
        written = text(group, str(label), axis.x(label), y + 11, anchor="middle")
        written.set("data-time", str(label))
    for x in axis.breaks():
        path = f"M{x - 4:.1f} {y + 20:.1f}l3 -8M{x + 1:.1f} {y + 20:.1f}l3 -8"
        titled(element(group, "path", d=path, cls="break"), "the axis is compressed here")
    return y + 18


def _draw_panel(root: ET.Element, picture: _Picture, panel: _Panel, y: float) -> float:
    state = panel.state
    group = element(root, "g", cls="panel")
    text(group, panel.title, 4, y + 12, cls="panel-title")
    facts = [f"executor's queue: {_names(state.queue)}"] if state.queue else []
    facts += ["shut down"] if state.closed else []
    if facts:
        text(group, ", ".join(facts), _LEFT + 14 + text_width(panel.title), y + 12, cls="faint")
    clocks = element(group, "g", cls="clocks")
    y += 30
    top = y
    if isinstance(state.store, TimingWheel):
        for lane in _lanes(picture.levels):
            y = _draw_lane(group, picture, state.store, lane, y)
        _draw_clock(clocks, picture, "own clock", state.store.own_clock_ms, state.now_ms, top, y)
    else:
        y = _draw_pending(group, picture, state, y)
    own_ms = state.store.own_clock_ms if isinstance(state.store, TimingWheel) else None
    if own_ms != state.now_ms:
        _draw_clock(clocks, picture, "clock", state.now_ms, None, top, y)
    # Drawn last, so that buckets do not hide the clocks.
    group.remove(clocks)
    group.append(clocks)
    return y


def _draw_clock(
    group: ET.Element,
    picture: _Picture,
    name: str,
    time_ms: int,
    clock_ms: int | None,
    top: float,
    bottom: float,
) -> None:
    x = picture.axis.x(time_ms)
    own = name == "own clock"
    line = element(group, "line", x1=x, x2=x, y1=top - 4, y2=bottom, cls=name.replace(" ", "-"))
    line.set("data-time", str(time_ms))
    words = f"clock and own clock {time_ms}" if own and clock_ms == time_ms else f"{name} {time_ms}"
    before = own and clock_ms != time_ms
    text(group, words, x - 3 if before else x + 3, top - 6, anchor="end" if before else "start")


def _lanes(levels: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The lanes from the lowest: a level alone, or several levels that are not drawn."""
    previous = 0
    for level in levels:
        if level > previous + 1:
            yield previous + 1, level - 1
        yield level, level
        previous = level


def _draw_lane(
    group: ET.Element, picture: _Picture, wheel: TimingWheel, lane: tuple[int, int], y: float
) -> float:
    first, last = lane
    if first < last:
        words = f"levels {first} to {last}"
        text(group, words, _LEFT - 12, y + 11, cls="faint", anchor="end")
        text(group, "nothing queued", _LEFT + 4, y + 11, cls="faint")
        return y + 18
    level, tick = first, picture.tick_of(first)
    name = text(group, f"level {level}", 4, y + 13, cls="level")
    titled(name, f"level {level}: tick {tick} ms")
    text(group, _short_ms(tick), _LEFT - 12, y + 13, cls="faint", anchor="end")
    if level > wheel.levels:
        text(group, "does not exist", _LEFT + 4, y + 13, cls="faint")
        return y + _LANE
    axis, size = picture.axis, picture.configuration.wheel_size
    start = floor_to(wheel.own_clock_ms, tick)
    end = start + tick * size
    left, right = axis.x(start), axis.x(end)
    span = element(group, "rect", x=left, y=y, width=right - left, height=_BUCKET, cls="span")
    titled(span, f"level {level} covers {start} up to {end - 1}")
    span.set("data-level", str(level))
    for index in range(1, size if size <= _MOST_BUCKETS_DRAWN else 0):
        x, to = axis.x(start + index * tick), axis.x(start + (index + 1) * tick)
        if to - x >= _NARROWEST_BUCKET:
            element(group, "rect", x=x, y=y, width=to - x, height=_BUCKET, cls="bucket")
    present = element(
        group, "rect", x=left, y=y, width=axis.x(start + tick) - left, height=_BUCKET, cls="present"
    )
    present.set("fill", f"url(#hatch-{picture.number})")
    titled(present, f"the present tick of level {level}: it takes no task")
    for (expiry, of_level), tasks in sorted(wheel.buckets.items()):
        if of_level == level:
            _draw_bucket(group, picture, wheel, (expiry, level), y)
    return y + _LANE


def _short_ms(tick: int) -> str:
    return f"{tick} ms" if tick < 10**6 else f"{tick:.1e} ms"


def _draw_bucket(
    group: ET.Element, picture: _Picture, wheel: TimingWheel, bucket: tuple[int, int], y: float
) -> None:
    expiry, level = bucket
    tasks = wheel.buckets[bucket]
    end = expiry + picture.tick_of(level)
    x, to = picture.axis.x(expiry), picture.axis.x(end)
    kind = "queued" if tasks else "emptied"
    if tasks & picture.focus:
        kind += " focus"
    drawn = element(group, "rect", x=x, y=y, width=to - x, height=_BUCKET, cls=f"bucket {kind}")
    drawn.set("data-level", str(level))
    drawn.set("data-expiry", str(expiry))
    held = ", ".join(f"{describe_task(task)} due {wheel.due_ticks[task]}" for task in sorted(tasks))
    titled(drawn, f"level {level}, bucket {expiry} up to {end - 1}: {held or 'emptied'}")
    words = _names(tasks) or "emptied"
    if text_width(words) <= to - x + 4:
        text(group, words, (x + to) / 2, y + 13, cls=f"name {kind}", anchor="middle")


def _draw_pending(group: ET.Element, picture: _Picture, state: State, y: float) -> float:
    axis = picture.axis
    text(group, "pending", 4, y + 13, cls="level")
    element(
        group,
        "rect",
        x=axis.places[0],
        y=y,
        width=axis.places[-1] - axis.places[0],
        height=_BUCKET,
        cls="span",
    )
    ticks: dict[int, list[str]] = {}
    for task, due_ms in state.store.due_ticks.items():
        ticks.setdefault(due_ms, []).append(task)
    for due_ms, tasks in sorted(ticks.items()):
        words = _names(tasks)
        x = axis.x(due_ms)
        kind = "queued focus" if picture.focus.intersection(tasks) else "queued"
        drawn = element(
            group,
            "rect",
            x=x,
            y=y,
            width=text_width(words) + 10,
            height=_BUCKET,
            cls=f"bucket {kind}",
        )
        drawn.set("data-expiry", str(due_ms))
        titled(drawn, f"due {due_ms}: {', '.join(describe_task(task) for task in sorted(tasks))}")
        text(group, words, x + 5, y + 13, cls=f"name {kind}")
    return y + _LANE


def _draw_comparison(root: ET.Element, picture: _Picture, row: Comparison, y: float) -> float:
    """One difference: where it was expected, where it was seen, and the way between them."""
    group = element(root, "g", cls="comparison")
    text(group, row.about, _LEFT - 12, y + 13, cls="level", anchor="end")
    middle = y + 9
    expected, seen = f"expected {row.expected}", f"seen {row.seen}"
    places = [picture.axis.x(t) for t in (row.expected_ms, row.seen_ms) if t is not None]
    free = max([*places, _LEFT]) + 12
    if len(places) == 2:
        element(group, "line", x1=places[0], x2=places[1], y1=middle, y2=middle, cls="way")
    for word, time_ms, kind in (
        (expected, row.expected_ms, "expected"),
        (seen, row.seen_ms, "seen"),
    ):
        if time_ms is not None:
            _draw_mark(group, kind, picture.axis.x(time_ms), middle).set("data-time", str(time_ms))
        else:
            _draw_mark(group, kind, free, middle)
    return y + _ROW


def _draw_mark(group: ET.Element, kind: str, x: float, y: float) -> ET.Element:
    if kind == "expected":
        path = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
        return element(group, "path", d=path, cls="mark expected")
    return element(group, "circle", cx=x, cy=y, r=5, cls="mark seen")


def _draw_legend(root: ET.Element, picture: _Picture, y: float) -> float:
    return y
