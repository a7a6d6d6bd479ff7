"""A failing case as panels side by side, one SVG each, so that a narrow page can stack them.

The colours are those of the page (classes). Whatever is too long for its place is cut off and has
a title with all of it.
"""

from collections.abc import Callable
from functools import partial
from textwrap import wrap
from xml.etree import ElementTree as ET

from purgatory_conformance.describing.words import printable, shortened
from purgatory_conformance.drawing.lanes import Lane, Pair
from purgatory_conformance.drawing.panels import (
    Box,
    Boxes,
    Budget,
    Panel,
    PanelScene,
    Row,
    Words,
)
from purgatory_conformance.drawing.svg import element, text, titled
from purgatory_conformance.drawing.time_axis import LETTER_WIDTH, text_width

_WIDTH = 312.0
_PAD = 8.0
_LEFT, _RIGHT = _PAD, _WIDTH - _PAD
_BOXES_LEFT = 78.0
_LINE = 16.0
_BOX = 18.0
_GAP = 4.0
_BOLD = 1.15
_MOST_ROWS = 14
_MOST_BOXES = 24
_SEEN_LEFT = 160.0


def panel_picture(scene: PanelScene, number: int) -> str:
    """Return the panels of a failing case as SVG; ``number`` makes their ids unique on the page."""
    drawn = [
        _svg(f"picture-{number}-{place}", panel.title, panel.description, partial(_state, panel))
        for place, panel in enumerate(scene.panels, start=1)
    ]
    compared = "; ".join(
        f"{lane.about}: expected {pair.expected}, seen {pair.seen}"
        for lane in scene.lanes
        for pair in lane.pairs
    )
    drawn.append(_svg(f"picture-{number}-step", scene.step, compared, partial(_lanes, scene.lanes)))
    return "".join(drawn)


def _svg(
    name: str, title: str, description: str, draw: Callable[[ET.Element, float], float]
) -> str:
    """Return one panel: a frame, a title of up to two lines, and below it what ``draw`` draws."""
    root = element(None, "svg", cls="panel", xmlns="http://www.w3.org/2000/svg", role="img")
    root.set("aria-labelledby", f"{name}-title {name}-text")
    element(root, "title", id=f"{name}-title").text = printable(title)
    element(root, "desc", id=f"{name}-text").text = printable(description)
    frame = element(root, "rect", cls="frame", x=0.5, y=0.5, width=_WIDTH - 1)
    lines = _wrapped(title, _RIGHT - _LEFT, bold=True)
    y = _PAD
    for line in lines[:2]:
        y += _LINE
        text(root, line, _LEFT, y - 3, cls="panel-title")
    bottom = draw(root, y + _GAP) + _PAD
    frame.set("height", f"{bottom - 1:.1f}")
    root.set("viewBox", f"0 0 {_WIDTH:.0f} {bottom:.0f}")
    root.set("width", f"{_WIDTH:.0f}")
    root.set("height", f"{bottom:.0f}")
    return ET.tostring(root, encoding="unicode")


def _wrapped(words: str, width: float, *, bold: bool = False) -> list[str]:
    """Return the words in lines that are as wide at the most."""
    letters = int(width / (LETTER_WIDTH * (_BOLD if bold else 1)))
    return wrap(printable(words), letters, break_on_hyphens=False)


def _cut(words: str, width: float) -> str:
    return shortened(printable(words), int(width / LETTER_WIDTH))


def _state(panel: Panel, root: ET.Element, y: float) -> float:
    for row in panel.rows[:_MOST_ROWS]:
        y = _row(root, row, y) + _GAP
    if len(panel.rows) > _MOST_ROWS:
        y += _LINE
        text(root, f"… and {len(panel.rows) - _MOST_ROWS} more", _LEFT, y - 3, cls="faint")
    return y


def _row(root: ET.Element, row: Row, y: float) -> float:
    match row:
        case Budget():
            return _budget(root, row, y)
        case Words(about, words):
            _about(root, about, y)
            for line in _wrapped(words, _RIGHT - _BOXES_LEFT) or [""]:
                text(root, line, _BOXES_LEFT, y + 13)
                y += _LINE
            return y
        case Boxes(about, boxes):
            _about(root, about, y)
            return _boxes(root, boxes, y)


def _about(root: ET.Element, about: str, y: float) -> None:
    words = _cut(about, _BOXES_LEFT - _LEFT - 4)
    label = text(root, words, _LEFT, y + 13, cls="faint")
    if words != about:
        titled(label, printable(about))


def _boxes(root: ET.Element, boxes: tuple[Box, ...], y: float) -> float:
    """Return the boxes of a list from left to right, in as many lines as they need."""
    if not boxes:
        text(root, "empty", _BOXES_LEFT, y + 13, cls="faint")
        return y + _BOX
    x = _BOXES_LEFT
    for box in boxes[:_MOST_BOXES]:
        words = _cut(box.words, (_RIGHT - _BOXES_LEFT - 10) / _BOLD)
        width = _BOLD * text_width(words) + 10
        if x > _BOXES_LEFT and x + width > _RIGHT:
            x, y = _BOXES_LEFT, y + _BOX + _GAP
        kind = ("stale" if box.stale else "queued") + (" focus" if box.focus else "")
        drawn = element(root, "rect", cls=kind, x=x, y=y, width=width, height=_BOX)
        titled(drawn, printable(box.words) + (", completed" if box.stale else ""))
        text(root, words, x + width / 2, y + 13, cls=f"name {kind}", anchor="middle")
        x += width + _GAP
    if len(boxes) > _MOST_BOXES:
        y += _BOX + _GAP
        text(root, f"… and {len(boxes) - _MOST_BOXES} more", _BOXES_LEFT, y + 13, cls="faint")
    return y + _BOX


def _budget(root: ET.Element, row: Budget, y: float) -> float:
    """Draw a bar of bytes, in proportion; a name that does not fit is a title alone."""
    held_bytes = sum(holder.size_bytes for holder in row.holders)
    whole_bytes = max(held_bytes + max(row.available_bytes, 0), row.bound_bytes or 0, 1)
    scale = (_RIGHT - _LEFT) / whole_bytes
    element(root, "rect", cls="span", x=_LEFT, y=y, width=_RIGHT - _LEFT, height=_BOX)
    x = _LEFT
    for holder in row.holders:
        width = scale * holder.size_bytes
        kind = "queued focus" if holder.focus else "queued"
        part = element(root, "rect", cls=kind, x=x, y=y, width=width, height=_BOX)
        part.set("data-bytes", str(holder.size_bytes))
        words = printable(f"{holder.name} {holder.size_bytes}")
        titled(part, f"{words} bytes")
        if _BOLD * text_width(words) <= width:
            text(root, words, x + width / 2, y + 13, cls=f"name {kind}", anchor="middle")
        x += width
    bound = ""
    if row.bound_bytes is not None:
        place = _LEFT + scale * row.bound_bytes
        mark = element(root, "line", cls="clock", x1=place, x2=place, y1=y - 3, y2=y + _BOX + 3)
        mark.set("data-bytes", str(row.bound_bytes))
        bound = f" of {row.bound_bytes}"
    words = f"{row.about}: {held_bytes}{bound} held, {row.available_bytes} available"
    y += _BOX + 3
    for line in _wrapped(words, _RIGHT - _LEFT):
        text(root, line, _LEFT, y + 12, cls="faint")
        y += _LINE
    return y


def _lanes(lanes: tuple[Lane, ...], root: ET.Element, y: float) -> float:
    text(root, "◆ expected", _LEFT, y + 13, cls="expected")
    text(root, "● seen", _SEEN_LEFT, y + 13, cls="seen")
    y += _LINE + _GAP
    for lane in lanes:
        text(root, _cut(lane.about, _RIGHT - _LEFT), _LEFT, y + 12, cls="faint")
        y += _LINE
        for pair in lane.pairs:
            y = _pair(root, pair, y)
        y += _GAP
    return y


def _pair(root: ET.Element, pair: Pair, y: float) -> float:
    """Return the two side by side, in the colours of expected and seen where they differ."""
    width = _SEEN_LEFT - _LEFT - _PAD
    bottom = y
    sides = ((pair.expected, _LEFT, "expected"), (pair.seen, _SEEN_LEFT, "seen"))
    for words, x, kind in sides:
        lines = _wrapped(words, width, bold=True)
        for place, line in enumerate(lines):
            cls = kind if pair.differs else "alike"
            text(root, line, x, y + 13 + place * _LINE, cls=cls)
        bottom = max(bottom, y + len(lines) * _LINE)
    return bottom + 1
