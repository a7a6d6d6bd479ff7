# SPDX-License-Identifier: CC0-1.0
"""A naive timer on a heap: put yours in its place. It knows nothing of the protocol."""

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

Task = TypeVar("Task")
LARGEST_DELAY_MS = 2**31 - 1  # a profile promises this limit if it names no other


class Closed(Exception):
    """Nothing is added after shutdown."""


class HeapTimer(Generic[Task]):
    """Tasks by the tick in which they are due."""

    def __init__(self, tick_ms: int, start_ms: int) -> None:
        self.tick_ms = tick_ms
        self.now_ms = start_ms  # a virtual clock: somebody else moves it
        self.heap: list[tuple[int, int, Task]] = []  # due tick, number of the arming, task
        self.pending: dict[Task, int] = {}  # its arming; what else the heap holds is stale
        self.armings = 0
        self.closed = False

    def add(self, task: Task, delay_ms: int) -> None:
        if self.closed:
            raise Closed("the timer is shut down")
        if delay_ms > LARGEST_DELAY_MS:
            raise OverflowError(f"a delay is at most {LARGEST_DELAY_MS} ms")
        self.armings += 1
        self.pending[task] = self.armings  # an earlier arming of the task becomes stale
        expiry_ms = self.now_ms + delay_ms
        due_tick = expiry_ms - expiry_ms % self.tick_ms  # rounding "down", the default
        heapq.heappush(self.heap, (due_tick, self.armings, task))
        self.sweep()

    def cancel(self, task: Task) -> None:
        self.pending.pop(task, None)  # an unknown task is no error
        self.sweep()

    def sweep(self) -> None:
        """Rebuild the heap when more than half is stale: stale entries would stay until due."""
        if len(self.heap) > 2 * len(self.pending):
            self.heap = [each for each in self.heap if self.pending.get(each[2]) == each[1]]
            heapq.heapify(self.heap)

    def advance(self, hand_over: Callable[[Task], None]) -> bool:
        """Hand over what is due to an executor; what that refuses by an exception stays here."""
        expired_any = False
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, arming, task = self.heap[0]
            if self.pending.get(task) == arming:
                hand_over(task)
                del self.pending[task]
                expired_any = True
            heapq.heappop(self.heap)
        return expired_any

    def shut_down(self) -> None:
        self.closed = True
        self.heap.clear()
        self.pending.clear()
