"""The timeline of a run as SVG: threads as rows, calls as bars, the order of effects as a line."""

from xml.etree import ElementTree as ET

from purgatory_conformance.describing.words import shortened
from purgatory_conformance.drawing.svg import element, text, titled
from purgatory_conformance.drawing.time_axis import text_width
from purgatory_traces.linearizability.timeline_layout import Bar, Layout

WALL = "wall"
"""The name by which a link finds the line that cannot be explained."""

_TOP = 34.0
_BAR = 22.0
_ABOVE = 20.0
_BELOW = 28.0
_INSIDE = 26.0
"""A call inside a call stands so much lower."""
_SAID = 13.0
_RADIUS = 9.5
_LABEL = 10.0
_PAGE = 900.0
"""The width of a picture that is surely seen at once."""


def timeline(layout: Layout) -> str:
    """Return the picture; its colours are those of the page."""
    label = max((text_width(thread) for thread in layout.threads), default=0.0) + _LABEL + 16
    width = label + layout.right + 24 + (label if _opens_at_end(layout) else 0)
    tops = _tops(layout)
    height = tops[-1] + 8
    picture = element(None, "svg", cls="timeline", width=width, height=height)
    picture.set("viewBox", f"0 0 {width:.0f} {height:.0f}")
    picture.set("role", "img")
    picture.set("aria-label", "Calls by thread; the table below says the same in words")
    drawing = _Drawing(layout, picture, label, tops)
    drawing.rows()
    for bar in layout.bars:
        drawing.bar(bar)
    drawing.order()
    drawing.unexplained()
    return ET.tostring(picture, encoding="unicode")


def _opens_at_end(layout: Layout) -> bool:
    """Decide whether a wide picture opens at its right end, and threads are named there, too."""
    return layout.right > _PAGE and (layout.unexplained is not None or layout.undecided)


def _tops(layout: Layout) -> list[float]:
    """Return the tops of the rows, and the bottom of the last one."""
    tops = [_TOP]
    for thread in layout.threads:
        bars = layout.bars_of(thread)
        inside = _INSIDE if any(bar.depth for bar in bars) else 0.0
        said = _SAID if any(bar.events for bar in bars) else 0.0
        tops.append(tops[-1] + _ABOVE + _BAR + _BELOW + inside + said)
    return tops


class _Drawing:
    """The drawing of a picture under way."""

    def __init__(self, layout: Layout, picture: ET.Element, left: float, tops: list[float]) -> None:
        self._layout = layout
        self._picture = picture
        self._left = left
        self._bottom = tops[-1]
        self._tops = dict(zip(layout.threads, tops, strict=False))

    def x(self, place: int) -> float:
        """Return the x of a line of the trace."""
        return self._left + self._layout.x(place)

    def y(self, bar: Bar) -> float:
        """Return the top of a bar."""
        return self._tops[bar.thread] + _ABOVE + (_INSIDE if bar.depth else 0)

    def rows(self) -> None:
        """Draw the names of the threads, each with a line."""
        right = self._left + self._layout.right + 16
        for thread, top in self._tops.items():
            middle = top + _ABOVE + _BAR / 2
            element(self._picture, "line", cls="row", x1=_LABEL, x2=right, y1=middle, y2=middle)
            text(self._picture, thread, _LABEL, middle - 6, cls="thread")
            if _opens_at_end(self._layout):
                text(self._picture, thread, right + _LABEL, middle + 4, cls="thread")

    def bar(self, bar: Bar) -> None:
        """Draw a call as a bar: operation above, answer below, callbacks as marks inside."""
        began, y = self.x(bar.began), self.y(bar)
        is_open = bar.ended is None
        ended = self.x(len(self._layout.entries) if bar.ended is None else bar.ended)
        fails = self._layout.fails(bar)
        group = element(self._picture, "g", cls="call unexplained" if fails else "call")
        words = f"{bar.operation}: {bar.answer}"
        titled(group, f"{bar.thread}, from seq {bar.call.called.seq}: {words}")
        element(
            group,
            "rect",
            cls="open" if is_open else "",
            x=began,
            y=y,
            width=max(ended - began, 4),
            height=_BAR,
            rx=4,
        )
        room = int(max(ended - began, 60) / 6.2)
        text(group, shortened(bar.operation, max(room, 12)), began, y - 5, cls="asked")
        answer = bar.answer
        sign = "✗ " if fails else ""
        end = "start" if is_open else "end"
        place = began if is_open else ended
        text(
            group,
            shortened(f"{sign}{answer}", max(room, 12)),
            place,
            y + _BAR + 13,
            cls="answered",
            anchor=end,
        )
        for event_place, said in bar.events:
            self._event(group, self.x(event_place), y, said)

    def _event(self, group: ET.Element, x: float, y: float, said: str) -> None:
        """Draw a callback: a diamond on the bar, with its words."""
        middle = y + _BAR / 2
        points = f"{x:.1f},{middle - 7:.1f} {x + 6:.1f},{middle:.1f} {x:.1f},{middle + 7:.1f} "
        mark = element(group, "polygon", cls="event")
        mark.set("points", f"{points}{x - 6:.1f},{middle:.1f}")
        titled(mark, said)
        text(group, said, x, y + _BAR + 13 + _SAID, cls="said", anchor="middle")

    def order(self) -> None:
        """Draw the numbers of the effects, and a line from each to the next."""
        places = [(self._left + mark.x, self.y(mark.bar) + _BAR / 2) for mark in self._layout.marks]
        if len(places) > 1:
            line = element(self._picture, "polyline", cls="order")
            line.set("points", " ".join(f"{x:.1f},{y:.1f}" for x, y in places))
        for mark, (x, y) in zip(self._layout.marks, places, strict=True):
            group = element(self._picture, "g", cls="effect")
            part = f", its part “{mark.words}”" if mark.words else ""
            titled(group, f"effect {mark.number}: {mark.bar.operation}{part}")
            element(group, "circle", cx=x, cy=y, r=_RADIUS)
            number = str(mark.number)
            text(
                group,
                number,
                x,
                y + 4,
                cls="number" if len(number) < 3 else "long number",
                anchor="middle",
            )

    def unexplained(self) -> None:
        """Draw the line that cannot be explained, or behind which the run is undecided."""
        place = self._layout.unexplained
        if place is not None:
            words = f"✗ seq {self._layout.entries[place].seq} cannot be explained"
        elif self._layout.undecided:
            place, words = len(self._layout.entries), "… not decided from here on"
        else:
            return
        x = self.x(place)
        wall = element(self._picture, "line", cls="wall", x1=x, x2=x, y1=18, y2=self._bottom)
        wall.set("id", WALL)
        anchor = "end" if x - self._left > text_width(words) else "start"
        text(self._picture, words, x, 13, cls="wall-words", anchor=anchor)
