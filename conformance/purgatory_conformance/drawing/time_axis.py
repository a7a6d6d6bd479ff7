"""A horizontal time axis that is compressed where nothing happens.

The levels of a wheel cover spans that differ by powers of the wheel size, and a delay may be close
to the largest integer. So the axis goes from *stop* to stop, the times that matter, and a gap
between two of them is as wide as the logarithm of its length. Between stops it is linear. It never
runs backwards, and every label gives the exact time.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

LETTER_WIDTH = 6.8
"""The width of a letter of the labels, about; in the units of the picture."""

_LEAST_GAP = 0.3
_WIDEST_GAP = 7.0
_NARROWEST_UNIT = 8.0
_LINEAR_UNITS = 8


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A time axis: the stops in ascending order and their places."""

    stops: tuple[int, ...]
    places: tuple[float, ...]
    unit_ms: int

    def x(self, time_ms: int) -> float:
        """Return the place of a time; beyond the ends it is that of the end."""
        if time_ms <= self.stops[0]:
            return self.places[0]
        if time_ms >= self.stops[-1]:
            return self.places[-1]
        after = bisect_right(self.stops, time_ms)
        begin, end = self.stops[after - 1], self.stops[after]
        left, right = self.places[after - 1], self.places[after]
        return left + (right - left) * ((time_ms - begin) / (end - begin))

    def breaks(self) -> list[float]:
        """Return the middles of the gaps that are drawn much narrower than they are."""
        return [
            (self.places[i] + self.places[i + 1]) / 2
            for i in range(len(self.stops) - 1)
            if self.stops[i + 1] - self.stops[i] > _LINEAR_UNITS * self.unit_ms
        ]

    def labels(self, importance: Mapping[int, int]) -> list[int]:
        """Return the stops that can be labelled without overlap, the important ones first."""
        chosen: list[int] = []
        for stop in sorted(importance, key=lambda stop: (-importance[stop], stop)):
            if importance[stop] and all(self._apart(stop, other) for other in chosen):
                chosen.append(stop)
        return sorted(chosen)

    def _apart(self, one: int, other: int) -> bool:
        return abs(self.x(one) - self.x(other)) >= label_distance(one, other)


def text_width(text: str) -> float:
    """Return the width of a text in the letters of the labels, about."""
    return len(text) * LETTER_WIDTH


def label_distance(one: int, other: int) -> float:
    """Return the distance that the middles of two labels must have."""
    return (text_width(str(one)) + text_width(str(other))) / 2 + 8


def time_axis(
    stops: Iterable[int],
    rooms: Iterable[tuple[int, int, float]],
    *,
    unit_ms: int,
    left: float,
    width: float,
    most_width: float,
) -> TimeAxis:
    """Return an axis over the stops, as wide as ``width`` or, where room is needed, ``most_width``.

    Args:
        stops: The times that matter, ms; at least one.
        rooms: For pairs of stops how far apart they must be drawn, for example for a text.
        unit_ms: The length that is drawn one unit wide: the timer's tick.
        left: The place of the first stop.
        width: The usual distance from the first stop to the last.
        most_width: The largest such distance; beyond it the rooms are made smaller.
    """
    times = sorted(set(stops))
    if len(times) == 1:
        times.append(times[0] + unit_ms)
    weights = [
        min(max(math.log2(1 + (b - a) / unit_ms), _LEAST_GAP), _WIDEST_GAP)
        for a, b in pairwise(times)
    ]
    index = {time: i for i, time in enumerate(times)}
    needs = sorted((index[b] - index[a], index[a], room) for a, b, room in rooms)
    # Room that is given to one gap is taken from all: the unit shrinks until the axis fits.
    unit = width / sum(weights)
    gaps = _with_room([unit * weight for weight in weights], needs)
    while sum(gaps) > width and unit > _NARROWEST_UNIT:
        unit *= 0.8
        gaps = _with_room([unit * weight for weight in weights], needs)
    scale = min(max(width / sum(gaps), 1.0), most_width / sum(gaps))
    places = [left]
    for gap in gaps:
        places.append(places[-1] + gap * scale)
    return TimeAxis(tuple(times), tuple(places), unit_ms)


def _with_room(gaps: list[float], needs: list[tuple[int, int, float]]) -> list[float]:
    """Return the gaps, with each run of ``count`` gaps from ``first`` on as wide as needed."""
    for count, first, room in needs:
        present = sum(gaps[first : first + count])
        if count and present < room:
            wider = [gap * room / present for gap in gaps[first : first + count]]
            gaps[first : first + count] = wider
    return gaps
