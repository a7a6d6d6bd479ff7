"""A timer on a sorted list. What is due when it is added runs at once; delays have no limit."""

import bisect
from collections.abc import Callable

from purgatory_spec.profiles import Component

from ..design import TIMER_FEATURES, Stranger


class SortedListTimer:
    """Tasks of one tick run in the order in which they were added."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.pending: list[tuple[int, int, str]] = []
        self.numbers = 0

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms < 0:
            raise ValueError("a delay is not negative")
        self.cancel(task)
        due = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        if due <= self.now_ms and delay_ms < self.tick_ms:
            self.run(task)
            return
        self.numbers += 1
        self.insert(due, task)

    def insert(self, due: int, task: str) -> None:
        bisect.insort(self.pending, (due, self.numbers, task))

    def cancel(self, task: str) -> None:
        self.pending = [each for each in self.pending if each[2] != task]

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        due = self.pending[: bisect.bisect_left(self.pending, (self.now_ms + 1,))]
        self.pending = self.pending[len(due) :]
        for _, _, task in due:
            self.run(task)

    def size(self) -> int:
        return len(self.pending)


class LastInFirstOut(SortedListTimer):
    """The order inside a tick is the wrong way round."""

    def insert(self, due: int, task: str) -> None:
        bisect.insort(self.pending, (due, -self.numbers, task))


class CancelsAll(SortedListTimer):
    """A cancel takes whatever is due with the task."""

    def cancel(self, task: str) -> None:
        ticks = {due for due, _, name in self.pending if name == task}
        self.pending = [each for each in self.pending if each[0] not in ticks]


STRANGER = Stranger(
    Component.TIMER,
    {
        "same_tick_order": "fifo",
        "negative_delay": "reject",
        "larger_delay": "not_offered",
        "features": TIMER_FEATURES,
        "observables": ["size"],
    },
    SortedListTimer,
    {
        LastInFirstOut: {"TIMER-SAME-TICK-ORDER"},
        CancelsAll: {"TIMER-READD-PENDING", "TIMER-CANCEL", "TIMER-SIZE"},
    },
)
