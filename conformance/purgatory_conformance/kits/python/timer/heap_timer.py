# SPDX-License-Identifier: CC0-1.0
"""A naive timer on a heap: put yours in its place. It knows nothing of the protocol."""

import heapq
from collections.abc import Callable

LARGEST_DELAY_MS = 2**31 - 1  # what a profile that says nothing of it promises to accept


class HeapTimer:
    """Tasks by the tick in which they are due."""

    def __init__(self, tick_ms: int, start_ms: int) -> None:
        self.tick_ms = tick_ms
        self.now_ms = start_ms  # a virtual clock: somebody else moves it
        self.heap: list[tuple[int, int, str]] = []  # due tick, number of the arming, task
        self.pending: dict[str, int] = {}  # its arming; what else the heap holds is stale
        self.armings = 0

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > LARGEST_DELAY_MS:
            raise OverflowError(f"a delay is at most {LARGEST_DELAY_MS} ms")
        self.armings += 1
        self.pending[task] = self.armings  # an earlier arming of the task becomes stale
        expiry_ms = self.now_ms + delay_ms
        due_tick = expiry_ms - expiry_ms % self.tick_ms  # rounding "down", the default
        heapq.heappush(self.heap, (due_tick, self.armings, task))
        self.sweep()

    def cancel(self, task: str) -> None:
        self.pending.pop(task, None)  # an unknown task is no error
        self.sweep()

    def sweep(self) -> None:
        """Rebuild the heap when more than half of it is stale, which else stays until it is due."""
        if len(self.heap) > 2 * len(self.pending):
            self.heap = [each for each in self.heap if self.pending.get(each[2]) == each[1]]
            heapq.heapify(self.heap)

    def advance(self, run: Callable[[str], None]) -> bool:
        ran_any = False
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, arming, task = heapq.heappop(self.heap)
            if self.pending.get(task) == arming:
                del self.pending[task]
                run(task)  # at once, in this thread: the executor "inline", the default
                ran_any = True
        return ran_any
