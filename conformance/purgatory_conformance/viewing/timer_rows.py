"""The rows of a timer's state: the clocks, the levels of the wheel, the delay queue, the executor.

Each bucket has its place in the array of its level, which stays while the times in it change. The
buckets stand in the order of time, the present tick first. Of a large wheel, empty buckets that lie
side by side are one cell.
"""

from collections.abc import Iterator

import msgspec

from purgatory_conformance.describing.words import describe_task
from purgatory_conformance.drawing.panels import Box, Boxes, Row, Words
from purgatory_judge.timer.history import State
from purgatory_model.arithmetic import bucket_index, floor_to
from purgatory_model.timing_wheel import Bucket, TimingWheel

_MOST_CELLS = 12
_MOST_LEVELS = 7


class Held(msgspec.Struct, frozen=True):
    """A task in a bucket, with its due tick (ms)."""

    name: str
    due_ms: int


class Cell(msgspec.Struct, frozen=True):
    """A bucket, or empty buckets side by side: the first and the last time in it (ms).

    ``place`` is the index of the first of them in the array of the level. ``present`` says that the
    wheel's own clock is in it, ``queued`` that the delay queue holds it.
    """

    first_ms: int
    last_ms: int
    place: int
    buckets: int = 1
    present: bool = False
    queued: bool = False
    tasks: tuple[Held, ...] = ()


class Level(msgspec.Struct, frozen=True):
    """A level: its number from 1, its tick (ms), its size, and its cells in the order of time."""

    level: int
    tick_ms: int
    places: int
    cells: tuple[Cell, ...]


class Levels(msgspec.Struct, frozen=True, tag="levels"):
    """The levels of a timing wheel, the lowest first; of very many those in use."""

    about: str
    levels: tuple[Level, ...]


def timer_rows(state: State) -> Iterator[Row | Levels]:
    """Yield the rows of a timer's state."""
    store = state.store
    closed = ", shut down" if state.closed else ""
    if isinstance(store, TimingWheel):
        yield Words("clock", f"{state.now_ms}, the wheel's own {store.own_clock_ms}{closed}")
        yield Levels("wheel", tuple(_level(store, level) for level in _levels(store)))
        queued = (Box(_words(bucket), stale=not store.buckets[bucket]) for bucket in _queue(store))
        yield Boxes("delay queue", tuple(queued))
    else:
        yield Words("clock", f"{state.now_ms}{closed}")
        due = sorted((due_ms, name) for name, due_ms in store.due_ticks.items())
        yield Boxes(
            "pending", tuple(Box(f"{describe_task(name)} due {due_ms}") for due_ms, name in due)
        )
    yield Boxes("executor", tuple(Box(describe_task(name)) for name in state.queue))


def _queue(wheel: TimingWheel) -> list[Bucket]:
    """Return the buckets of the delay queue in the order in which they are popped."""
    return sorted(wheel.buckets)


def _words(bucket: Bucket) -> str:
    expiry_ms, level = bucket
    return f"{expiry_ms} (level {level})"


def _levels(wheel: TimingWheel) -> list[int]:
    """Return all levels, or of very many the two lowest and those in the delay queue."""
    if wheel.levels <= _MOST_LEVELS:
        return list(range(1, wheel.levels + 1))
    return sorted({1, 2} | {level for _, level in wheel.buckets})[:_MOST_LEVELS]


def _level(wheel: TimingWheel, level: int) -> Level:
    tick_ms = wheel.tick_of(level)
    start_ms = floor_to(wheel.own_clock_ms, tick_ms)
    end_ms = start_ms + tick_ms * wheel.wheel_size
    if wheel.wheel_size <= _MOST_CELLS:
        firsts = list(range(start_ms, end_ms, tick_ms))
    else:
        queued = (expiry_ms for expiry_ms, of_level in _queue(wheel) if of_level == level)
        firsts = [start_ms, *queued]
    cells: list[Cell] = []
    reached_ms = start_ms
    for first_ms in [*firsts, end_ms]:
        if first_ms > reached_ms:
            many = (first_ms - reached_ms) // tick_ms
            place = bucket_index(reached_ms, tick_ms, wheel.wheel_size)
            cells.append(Cell(reached_ms, first_ms - 1, place, many))
        if first_ms < end_ms:
            cells.append(_cell(wheel, (first_ms, level), tick_ms, present=first_ms == start_ms))
        reached_ms = first_ms + tick_ms
    return Level(level, tick_ms, wheel.wheel_size, tuple(cells))


def _cell(wheel: TimingWheel, bucket: Bucket, tick_ms: int, *, present: bool) -> Cell:
    names = sorted(wheel.buckets.get(bucket, ()), key=lambda name: (wheel.due_ticks[name], name))
    tasks = tuple(Held(describe_task(name), wheel.due_ticks[name]) for name in names)
    first_ms = bucket[0]
    place = bucket_index(first_ms, tick_ms, wheel.wheel_size)
    return Cell(first_ms, first_ms + tick_ms - 1, place, 1, present, bucket in wheel.buckets, tasks)
