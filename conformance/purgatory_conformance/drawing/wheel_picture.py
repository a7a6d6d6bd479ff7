"""A failing case as a picture: the wheel's levels below each other, the time from left to right.

A panel of a timing wheel has a lane per level: the span that the level covers from its present
tick, divided into buckets. Below the last panel, every difference between what was expected and
what was seen is a row of its own, marked at its time. A timer without a wheel has one lane with
its pending tasks at their due ticks. The colours are those of the page (classes).
"""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.words import describe_task, printable, shortened
from purgatory_conformance.drawing.comparison import Comparison
from purgatory_conformance.drawing.svg import element, text, titled
from purgatory_conformance.drawing.time_axis import text_width
from purgatory_conformance.drawing.wheel_scene import LEFT, Panel, Scene, short_names
from purgatory_judge.judgement import Divergence
from purgatory_judge.timer.history import State
from purgatory_model.arithmetic import floor_to
from purgatory_model.timing_wheel import Bucket, TimingWheel

_RIGHT = 124.0
_LANE = 24.0
_BUCKET = 18.0
_ROW = 20.0
_MOST_BUCKETS = 64
_NARROWEST_BUCKET = 5.0
_BOLD = 1.1
_TITLE_LETTER = 8.4
_MOST_ABOUT = 21


def wheel_picture(scene: Scene, divergence: Divergence, number: int) -> str:
    """Return the picture of a failing case as SVG; ``number`` makes its ids unique on the page."""
    names = f"picture-{number}-title", f"picture-{number}-text"
    root = element(None, "svg", cls="wheel", xmlns="http://www.w3.org/2000/svg", role="img")
    root.set("aria-labelledby", " ".join(names))
    element(
        root, "title", id=names[0]
    ).text = f"The steps of cause {number}, {divergence.rule}, in time"
    element(root, "desc", id=names[1]).text = _description(divergence, scene)
    _draw_hatching(root, number)
    grid = element(root, "g", cls="grid")
    y = _draw_axis(root, scene, 0)
    for panel in scene.panels:
        y = _draw_panel(root, scene, panel, y + 6, number)
    right = scene.axis.places[-1] + _RIGHT
    for row in scene.differences:
        y = _draw_comparison(root, scene, row, y, right)
    bottom = _draw_axis(root, scene, y + 4)
    for label in scene.labels:
        x = scene.axis.x(label)
        element(grid, "line", x1=x, x2=x, y1=16, y2=bottom - 2)
    root.set("viewBox", f"0 0 {right:.0f} {bottom + 6:.0f}")
    root.set("width", f"{right:.0f}")
    root.set("height", f"{bottom + 6:.0f}")
    return ET.tostring(root, encoding="unicode")


def _description(divergence: Divergence, scene: Scene) -> str:
    sentences = [f"{panel.title}: {describe_state(panel.state)}" for panel in scene.panels]
    return printable(
        ". ".join([*sentences, f"expected {divergence.expected}", f"seen {divergence.seen}"])
    )


def _draw_hatching(root: ET.Element, number: int) -> None:
    """Draw the pattern of the present tick."""
    pattern = element(element(root, "defs"), "pattern", id=f"hatch-{number}", width=6, height=6)
    pattern.set("patternUnits", "userSpaceOnUse")
    pattern.set("patternTransform", "rotate(45)")
    element(pattern, "line", cls="hatch", x1=0, y1=0, x2=0, y2=6)


def _draw_axis(root: ET.Element, scene: Scene, y: float) -> float:
    group = element(root, "g", cls="axis")
    text(group, "time, ms", 4, y + 11)
    line = y + 16
    element(group, "line", x1=scene.axis.places[0], x2=scene.axis.places[-1], y1=line, y2=line)
    for label in scene.labels:
        written = text(group, str(label), scene.axis.x(label), y + 11, anchor="middle")
        written.set("data-time", str(label))
    for x in scene.axis.breaks():
        slashes = f"M{x - 4:.1f} {line + 4:.1f}l3 -8M{x + 1:.1f} {line + 4:.1f}l3 -8"
        titled(element(group, "path", cls="break", d=slashes), "the axis is compressed here")
    return line + 2


def _draw_panel(root: ET.Element, scene: Scene, panel: Panel, y: float, number: int) -> float:
    state = panel.state
    group = element(root, "g", cls="panel")
    facts = [panel.title]
    facts += [f"executor's queue: {short_names(state.queue)}"] if state.queue else []
    facts += ["closed"] if state.closed else []
    words = "  ·  ".join(facts)
    shown = shortened(words, int((scene.axis.places[-1] + _RIGHT) / _TITLE_LETTER))
    title = text(group, shown, 4, y + 12, cls="panel-title")
    if shown != words:
        titled(title, words)
    top = y + 32
    if isinstance(state.store, TimingWheel):
        bottom = top
        for lane in _lanes(scene.levels):
            bottom = _draw_lane(group, scene, state.store, lane, bottom, number)
    else:
        bottom = _draw_pending(group, scene, state, top)
    _draw_clocks(group, scene, state, top, bottom)
    return bottom


def _draw_clocks(group: ET.Element, scene: Scene, state: State, top: float, bottom: float) -> None:
    """Draw the clock's reading and, left of it where it lags, the wheel's own clock."""
    own = state.store.own_clock_ms if isinstance(state.store, TimingWheel) else None
    if own is not None and own != state.now_ms:
        _draw_clock(group, scene, f"own clock {own}", own, top, bottom, "own-clock")
    words = f"clock = own clock {own}" if own == state.now_ms else f"clock {state.now_ms}"
    _draw_clock(group, scene, words, state.now_ms, top, bottom, "clock")


def _draw_clock(
    group: ET.Element,
    scene: Scene,
    words: str,
    time_ms: int,
    top: float,
    bottom: float,
    kind: str,
) -> None:
    x = scene.axis.x(time_ms)
    line = element(group, "line", cls=kind, x1=x, x2=x, y1=top - 14, y2=bottom - 4)
    line.set("data-time", str(time_ms))
    if kind == "own-clock":
        text(group, words, x - 4, top - 6, cls="clock-name", anchor="end")
    else:
        text(group, words, x + 4, top - 6, cls="clock-name")


def _lanes(levels: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the lanes from the lowest: one level, or those levels in a row that are not drawn."""
    previous = 0
    for level in levels:
        if level > previous + 1:
            yield previous + 1, level - 1
        yield level, level
        previous = level


def _draw_lane(
    group: ET.Element,
    scene: Scene,
    wheel: TimingWheel,
    lane: tuple[int, int],
    y: float,
    number: int,
) -> float:
    level, last = lane
    if level > wheel.levels or level < last:
        many = f"levels {level} to {last}" if level < last else f"level {level}"
        text(group, many, 4, y + 13, cls="level faint")
        why = "unused" if level < last else "not made yet"
        text(group, why, LEFT - 10, y + 13, cls="faint", anchor="end")
        return y + _LANE
    tick, size = scene.tick_of(level), scene.configuration.wheel_size
    titled(text(group, f"level {level}", 4, y + 13, cls="level"), f"tick {tick} ms")
    text(group, _short_ms(tick), LEFT - 10, y + 13, cls="faint", anchor="end")
    start = floor_to(wheel.own_clock_ms, tick)
    left, right = scene.axis.x(start), scene.axis.x(start + tick * size)
    span = element(group, "rect", cls="span", x=left, y=y, width=right - left, height=_BUCKET)
    span.set("data-level", str(level))
    titled(span, f"level {level} covers {start} to {start + tick * size - 1}")
    for index in range(1, size if size <= _MOST_BUCKETS else 0):
        x, end = scene.axis.x(start + index * tick), scene.axis.x(start + (index + 1) * tick)
        if end - x >= _NARROWEST_BUCKET:
            element(group, "rect", cls="bucket", x=x, y=y, width=end - x, height=_BUCKET)
    width = scene.axis.x(start + tick) - left
    present = element(group, "rect", cls="present", x=left, y=y, width=width, height=_BUCKET)
    present.set("style", f"fill:url(#hatch-{number})")
    titled(present, f"the present tick of level {level}, {start} to {start + tick - 1}")
    for bucket in sorted(wheel.buckets):
        if bucket[1] == level:
            _draw_bucket(group, scene, wheel, bucket, y)
    return y + _LANE


def _short_ms(tick: int) -> str:
    return f"{tick} ms" if tick < 10**6 else f"{tick:.1e} ms".replace("e+", "e")


def _draw_bucket(
    group: ET.Element, scene: Scene, wheel: TimingWheel, bucket: Bucket, y: float
) -> None:
    expiry, level = bucket
    tasks = wheel.buckets[bucket]
    end = expiry + scene.tick_of(level)
    x, width = scene.axis.x(expiry), scene.axis.x(end) - scene.axis.x(expiry)
    kind = _kind(scene, tasks)
    drawn = element(group, "rect", cls=f"bucket {kind}", x=x, y=y, width=width, height=_BUCKET)
    drawn.set("data-level", str(level))
    drawn.set("data-expiry", str(expiry))
    held = ", ".join(f"{describe_task(task)} due {wheel.due_ticks[task]}" for task in sorted(tasks))
    titled(drawn, f"level {level}, bucket {expiry} to {end - 1}: {held or 'emptied'}")
    for task in tasks:
        due = scene.axis.x(wheel.due_ticks[task])
        element(group, "line", cls="due", x1=due, x2=due, y1=y + _BUCKET, y2=y + _BUCKET + 4)
    words = short_names(sorted(tasks)) or "emptied"
    if text_width(words) <= width + 4:
        text(group, words, x + width / 2, y + 13, cls=f"name {kind}", anchor="middle")


def _kind(scene: Scene, tasks: frozenset[str]) -> str:
    if not tasks:
        return "emptied"
    return "queued focus" if tasks & scene.focus else "queued"


def _draw_pending(group: ET.Element, scene: Scene, state: State, y: float) -> float:
    """Draw the lane of a timer that is no wheel: each due tick with its tasks."""
    left, right = scene.axis.places[0], scene.axis.places[-1]
    text(group, "pending", 4, y + 13, cls="level")
    element(group, "rect", cls="span", x=left, y=y, width=right - left, height=_BUCKET)
    ticks: dict[int, set[str]] = {}
    for task, due_tick in state.store.due_ticks.items():
        ticks.setdefault(due_tick, set()).add(task)
    for due_tick, tasks in sorted(ticks.items()):
        words, kind = short_names(sorted(tasks)), _kind(scene, frozenset(tasks))
        x, width = scene.axis.x(due_tick), text_width(words) + 10
        drawn = element(group, "rect", cls=f"bucket {kind}", x=x, y=y, width=width, height=_BUCKET)
        drawn.set("data-expiry", str(due_tick))
        titled(drawn, f"due {due_tick}: {', '.join(describe_task(t) for t in sorted(tasks))}")
        text(group, words, x + 5, y + 13, cls=f"name {kind}")
    return y + _LANE


def _draw_comparison(
    root: ET.Element, scene: Scene, row: Comparison, y: float, right: float
) -> float:
    """Draw a difference: marks on the time axis for values that are times, and the words."""
    group = element(root, "g", cls="comparison")
    text(group, shortened(row.about, _MOST_ABOUT), 4, y + 13, cls="level")
    middle = y + 9
    marks: list[float] = []
    if row.expected_ms is not None:
        x = scene.axis.x(row.expected_ms)
        shape = f"M{x:.1f} {middle - 7:.1f}l7 7l-7 7l-7 -7z"
        mark = element(group, "path", cls="mark expected", d=shape)
        mark.set("data-time", str(row.expected_ms))
        marks.append(x)
    if row.seen_ms is not None:
        x = scene.axis.x(row.seen_ms)
        mark = element(group, "circle", cls="mark seen", cx=x, cy=middle, r=6)
        mark.set("data-time", str(row.seen_ms))
        marks.append(x)
    if len(marks) == 2:
        line = element(group, "line", cls="way", y1=middle, y2=middle, x1=marks[0], x2=marks[1])
        group.remove(line)
        group.insert(0, line)
    expected, seen = f"◆ expected {row.expected}", f"● seen {row.seen}"
    x = _free_place(marks, _BOLD * text_width(f"{expected}   {seen}"), right)
    words = text(group, "", x, y + 13)
    element(words, "tspan", cls="expected").text = expected
    element(words, "tspan", cls="seen", dx=12).text = seen
    return y + _ROW


def _free_place(marks: list[float], width: float, right: float) -> float:
    """Return a place for a text of this width that hides no mark: right, left or between."""
    if not marks:
        return LEFT + 4
    if max(marks) + 14 + width <= right:
        return max(marks) + 14
    if min(marks) - 14 - width >= LEFT:
        return min(marks) - 14 - width
    return min(marks) + 14
