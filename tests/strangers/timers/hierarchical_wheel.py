"""A hierarchical timing wheel that turns with the clock: it has no queue of buckets, and no lag."""

from collections.abc import Callable, Iterator

from purgatory_spec.profiles import Component

from ..adapters import TimerInstance
from ..design import TIMER_FEATURES, Stranger


class HierarchicalWheelTimer:
    """Level ``i`` has slots of ``size ** i`` ticks; tasks move down when a slot begins."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, size: int, now_ms: int) -> None:
        self.tick_ms, self.size_of_level, self.now_ms = tick_ms, size, now_ms
        self.tick = now_ms // tick_ms
        self.slots: dict[tuple[int, int], dict[str, int]] = {}

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > 2**31 - 1:
            raise OverflowError
        self.cancel(task)
        self.put(task, (self.now_ms + delay_ms) // self.tick_ms)

    def put(self, task: str, due: int) -> None:
        level, width = 0, 1
        while due // width - self.tick // width >= self.size_of_level:
            level, width = level + 1, width * self.size_of_level
        self.slots.setdefault((level, due // width), {})[task] = due

    def cancel(self, task: str) -> None:
        for slot in self.slots.values():
            slot.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        until = self.now_ms // self.tick_ms
        while True:
            for task in list(self.expiring()):
                self.run(task)
            starts = [self.start(*place) for place, slot in self.slots.items() if slot]
            if not starts or min(starts) > until:
                self.tick = until
                return
            self.tick = max(min(starts), self.tick)

    def start(self, level: int, slot: int) -> int:
        return int(slot * self.size_of_level**level)

    def expiring(self) -> Iterator[str]:
        """The tasks of the slots whose time has come that are due; the others move down."""
        for place in sorted(self.slots, key=lambda place: (self.start(*place), place[0])):
            if self.start(*place) <= self.tick:
                for task, due in self.slots.pop(place).items():
                    if due <= self.tick:
                        yield task
                    else:
                        self.put(task, due)

    def size(self) -> int:
        return sum(map(len, self.slots.values()))


class LosesWhatShouldMoveDown(HierarchicalWheelTimer):
    """The tasks of a slot of a higher level that are not due yet are dropped."""

    def expiring(self) -> Iterator[str]:
        for place in sorted(self.slots, key=lambda place: (self.start(*place), place[0])):
            if self.start(*place) <= self.tick:
                due = self.slots.pop(place)
                yield from (task for task, tick in due.items() if tick <= self.tick)


class MovesToTheWrongLevel(HierarchicalWheelTimer):
    """The slot of a task two turns away is taken for that of the next."""

    def put(self, task: str, due: int) -> None:
        if due - self.tick >= 2 * self.size_of_level:
            due -= self.size_of_level
        super().put(task, due)


STRANGER = Stranger(
    Component.TIMER,
    {"features": TIMER_FEATURES, "observables": ["size"]},
    HierarchicalWheelTimer,
    {
        LosesWhatShouldMoveDown: {
            *("TIMER-EXACTLY-ONCE", "TIMER-NOT-LATE", "TIMER-SIZE", "TIMER-ZERO-DELAY"),
        },
        MovesToTheWrongLevel: {"TIMER-NOT-EARLY"},
    },
    lambda design, asked: TimerInstance(design(asked.tick_ms, asked.wheel_size, asked.start_ms)),
)
