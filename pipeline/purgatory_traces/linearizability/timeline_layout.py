"""Layout of a timeline: a window of a history, one row for each thread.

From left to right the lines of the trace follow one another; the distance between two of them says
nothing of the time between them, it is as large as the words need. Effects stand between the line
behind which they may have come at the earliest and the next line.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from purgatory_conformance.drawing.time_axis import LETTER_WIDTH, TimeAxis, time_axis
from purgatory_model.overlapping.interleaving import Called, Returned
from purgatory_model.overlapping.parts import WHOLE
from purgatory_traces.linearizability.calls import (
    Entry,
    RecordedCall,
    is_executing,
    thread_of_line,
)
from purgatory_traces.linearizability.refutation import ShownAnswer
from purgatory_traces.linearizability.search import Taken
from purgatory_traces.linearizability.share import ShareFound
from purgatory_traces.linearizability.words import Words, calls_of_share

MOST_CALLS = 40
"""The most calls that are drawn; a longer history is shown in a window."""

_LEFT = 14.0
_EFFECT_WIDTH = 24.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A call as it is drawn.

    ``began`` and ``ended`` are places in the window; ``ended`` is None where it does not return in
    it. ``depth`` is how many calls of its thread are around it.
    """

    call: RecordedCall
    thread: str
    depth: int
    began: int
    ended: int | None
    operation: str
    answer: str
    events: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a call that takes effect, behind a place of the window.

    Its number counts all effects from the first line on; ``x`` follows from the axis.
    """

    number: int
    bar: Bar
    words: str
    behind: int
    x: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """A window of a history.

    Attributes:
        entries: What is drawn.
        threads: The rows.
        bars: The calls.
        marks: The effects, in their order.
        unexplained: The place of the entry that cannot be explained; None where there is none.
        undecided: Whether nothing is known of what stands behind the window.
        axis: Where each place stands.
        calls_before: How many calls are left out before the window.
        calls_behind: How many are left out behind it.
    """

    entries: Sequence[Entry]
    threads: tuple[str, ...]
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    unexplained: int | None
    undecided: bool
    axis: TimeAxis
    calls_before: int
    calls_behind: int

    def bars_of(self, thread: str) -> list[Bar]:
        """Return the calls of a row."""
        return [bar for bar in self.bars if bar.thread == thread]

    @property
    def right(self) -> float:
        """Return the place of the last line."""
        return self.axis.places[-1]

    def fails(self, bar: Bar) -> bool:
        """Decide whether the unexplained entry is the call's return or one of its events."""
        if self.unexplained is None:
            return False
        entry = self.entries[self.unexplained]
        return any(each is entry for each in (bar.call.ended, *bar.call.shown))

    def x(self, place: int) -> float:
        """Return the x of a line."""
        return self.axis.x(place)


def layout_of(share: ShareFound, words: Words) -> Layout:
    """Return the layout of a share."""
    calls = calls_of_share(share)
    first, last = _window(share)
    entries = share.entries[first:last]
    places = {id(entry): place for place, entry in enumerate(entries)}
    inside = _inside_time_outs(calls)
    drawn = (_bar(call, places, words, inside) for call in calls)
    bars = tuple(bar for bar in drawn if bar is not None)
    threads = tuple(dict.fromkeys(bar.thread for bar in bars))
    order = share.order if share.refutation is None else share.refutation.order
    effects = _effects(order, bars)
    axis = _axis(entries, bars, effects)
    unexplained = None if share.unexplained is None else places.get(id(share.unexplained))
    before = sum(isinstance(entry.event, Called) for entry in share.entries[:first])
    behind = sum(isinstance(entry.event, Called) for entry in share.entries[last:])
    marks = tuple(_marks(effects, axis))
    undecided = share.undecided is not None
    return Layout(entries, threads, bars, marks, unexplained, undecided, axis, before, behind)


def _window(share: ShareFound) -> tuple[int, int]:
    """Return the places of the entries that are drawn.

    Up to the one that fails, or as far as is known, or where most overlap.
    """
    if share.refutation is not None:
        last = share.refutation.explained + 1
        return _calls_back(share.entries[:last], MOST_CALLS), last
    if share.undecided is not None:
        last = share.undecided.explained
        return _calls_back(share.entries[:last], MOST_CALLS), last
    opened = most = 0
    middle = 0
    for place, entry in enumerate(share.entries):
        opened += isinstance(entry.event, Called) - isinstance(entry.event, Returned)
        if opened > most:
            most, middle = opened, place
    first = _calls_back(share.entries[: middle + 1], MOST_CALLS // 2)
    last = first
    calls = 0
    while last < len(share.entries) and calls <= MOST_CALLS:
        calls += isinstance(share.entries[last].event, Called)
        last += calls <= MOST_CALLS
    return first, last


def _calls_back(entries: Sequence[Entry], most: int) -> int:
    """Return the place at which the last calls of a history begin, so many at the most."""
    begun = [place for place, entry in enumerate(entries) if isinstance(entry.event, Called)]
    return begun[-most] if len(begun) >= most else 0


def _inside_time_outs(calls: Sequence[RecordedCall]) -> frozenset[int]:
    """Return the calls, by their numbers, that a thread makes while it runs a time-out."""
    found: set[int] = set()
    running = [call for call in calls if is_executing(call.thread) and call.shown]
    for run in running:
        last = math.inf if run.ended is None else run.ended.seq
        for call in calls:
            within = run.shown[0].seq < call.called.seq < last
            same = thread_of_line(call.thread) == thread_of_line(run.thread)
            if within and same and call is not run:
                found.add(call.number)
    return frozenset(found)


def _bar(
    call: RecordedCall, places: Mapping[int, int], words: Words, inside: frozenset[int]
) -> Bar | None:
    """Return a call, where any of it is in the window."""
    began = places.get(id(call.called))
    ended = None if call.ended is None else places.get(id(call.ended))
    if began is None and ended is None:
        return None
    answer = "never returns" if call.ended is None else "still open"
    if ended is not None and call.returned is not None:
        answered = ShownAnswer(call.returned.result, call.returned.raised)
        answer = words.answer(call.operation, answered)
    events = tuple(
        (places[id(entry)], f"{event.kind.value.replace('_', ' ')} {event.task}")
        for entry, event in zip(call.shown, call.events, strict=True)
        if id(entry) in places
    )
    thread = thread_of_line(call.thread)
    nested = call.thread != thread and not is_executing(call.thread)
    depth = 1 if nested or call.number in inside else 0
    operation = words.operation(call.operation)
    began = 0 if began is None else began
    return Bar(call, thread, depth, began, ended, operation, answer, events)


def _effects(order: Sequence[Taken], bars: Sequence[Bar]) -> list[Mark]:
    by_number = {bar.call.number: bar for bar in bars}
    found: list[Mark] = []
    behind = 0
    for number, taken in enumerate(order, start=1):
        bar = by_number.get(taken.call)
        if bar is None:
            continue
        behind = max(behind, bar.began)
        part = "" if taken.part == WHOLE else str(taken.part)
        found.append(Mark(number, bar, part, behind))
    return found


def _axis(entries: Sequence[Entry], bars: Sequence[Bar], effects: Sequence[Mark]) -> TimeAxis:
    """Return an axis as wide as the words and the numbers need."""
    count = len(entries)
    rooms: list[tuple[int, int, float]] = []
    for bar in bars:
        letters = max(len(bar.operation), len(bar.answer))
        ended = count if bar.ended is None else bar.ended
        if ended > bar.began:
            rooms.append((bar.began, ended, min(letters, 60) * LETTER_WIDTH + 18))
        for one, other in zip(bar.events, bar.events[1:], strict=False):
            if other[0] > one[0]:
                rooms.append((one[0], other[0], len(one[1]) * LETTER_WIDTH + 12))
    inside: dict[int, int] = {}
    for effect in effects:
        inside[effect.behind] = inside.get(effect.behind, 0) + 1
    rooms += [(place, place + 1, number * _EFFECT_WIDTH + 8) for place, number in inside.items()]
    wide = max(600.0, 30.0 * count)
    return time_axis(
        range(count + 1), rooms, unit_ms=1, left=_LEFT, width=600.0, most_width=20 * wide
    )


def _marks(effects: Sequence[Mark], axis: TimeAxis) -> list[Mark]:
    """Return the marks of effects, spread evenly between a line and the next one."""
    inside: dict[int, list[Mark]] = {}
    for effect in effects:
        inside.setdefault(effect.behind, []).append(effect)
    marks: list[Mark] = []
    for place, those in inside.items():
        left, right = axis.x(place), axis.x(place + 1)
        step = (right - left) / (len(those) + 1)
        for count, effect in enumerate(those, start=1):
            marks.append(replace(effect, x=left + count * step))
    return marks
