"""A timer on a binary heap. A cancelled task stays in the heap and is passed over later."""

import heapq
from collections.abc import Callable

from purgatory_spec.profiles import Component

from ..design import TIMER_FEATURES, Stranger


class BinaryHeapTimer:
    """Runs what is due one by one: a running task may still cancel one that is due with it."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.heap: list[tuple[int, int, str]] = []
        self.armed: dict[str, int] = {}
        self.numbers = 0

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > 2**31 - 1:
            raise OverflowError
        self.numbers += 1
        self.armed[task] = self.numbers
        heapq.heappush(self.heap, (self.due(delay_ms), self.numbers, task))

    def due(self, delay_ms: int) -> int:
        return (self.now_ms + max(delay_ms, 0)) // self.tick_ms * self.tick_ms

    def cancel(self, task: str) -> None:
        self.armed.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        while self.heap and self.is_due(self.heap[0][0]):
            _, number, task = heapq.heappop(self.heap)
            if self.armed.get(task) == number:
                del self.armed[task]
                self.run(task)

    def is_due(self, due_ms: int) -> bool:
        return due_ms <= self.now_ms

    def size(self) -> int:
        return len(self.armed)


class ForgetsToMove(BinaryHeapTimer):
    """The earlier arming of a task that is added again is still good."""

    def advance(self) -> None:
        while self.heap and self.is_due(self.heap[0][0]):
            _, _, task = heapq.heappop(self.heap)
            if task in self.armed:
                del self.armed[task]
                self.run(task)


class OneTickLate(BinaryHeapTimer):
    """Leaves a task that is due at the reading itself for the next advance."""

    def is_due(self, due_ms: int) -> bool:
        return due_ms < self.now_ms


STRANGER = Stranger(
    Component.TIMER,
    {"negative_delay": "as_zero", "features": TIMER_FEATURES, "observables": ["size"]},
    BinaryHeapTimer,
    {ForgetsToMove: {"TIMER-READD-PENDING"}, OneTickLate: {"TIMER-NOT-LATE"}},
)
