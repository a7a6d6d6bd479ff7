"""Timers that are right as well, and make other choices than the small one."""

from heapq import heapify, heappop, heappush
from threading import Thread

from purgatory_conformance.specimens.small.timer import SmallTimer, Task
from purgatory_spec.profiles import TimerConfiguration, TimerProfile


class HeapTimer(SmallTimer):
    """A timer without buckets: a heap of armings; all that is due waits for the next advance."""

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """Begin with an empty heap."""
        super().__init__(configuration, profile)
        self.heap: list[tuple[int, int, Task]] = []

    def is_due(self, task: Task) -> bool:
        """Return false: adding expires no task."""
        return False

    def put(self, task: Task) -> None:
        """Push the arming onto the heap."""
        heappush(self.heap, (task.due_tick, task.arming, task))

    def leave(self, task: Task) -> None:
        """Take the arming out of the heap, which else would keep it until it is due."""
        self.heap = [each for each in self.heap if each[2] is not task]
        heapify(self.heap)

    def shutdown(self) -> None:
        """Drop the heap as well."""
        super().shutdown()
        self.heap = []

    def advance(self) -> bool:
        """Hand over every task that is due."""
        due = self.pop_due()
        self.pending -= len(due)
        self.hand_over(due)
        return bool(due)

    def pop_due(self) -> list[Task]:
        """Take what is due out of the heap, in order."""
        due: list[Task] = []
        while self.heap and self.heap[0][0] <= self.now_ms:
            due.append(heappop(self.heap)[2])
        return due


class TickerTimer(HeapTimer):
    """A timer that does each tick once, when its ticker comes to it."""

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """Make a timer in which the present tick is done."""
        super().__init__(configuration, profile)
        self.ticked_ms = self.round_down(self.now_ms, self.tick_ms)

    def put(self, task: Task) -> None:
        """Push the arming, no sooner than the next tick."""
        task.due_tick = max(task.due_tick, self.ticked_ms + self.tick_ms)
        super().put(task)

    def advance(self) -> bool:
        """Do the ticks that have come."""
        self.ticked_ms = self.round_down(self.now_ms, self.tick_ms)
        return super().advance()


class ThreadsTimer(HeapTimer):
    """A timer whose tasks each have a thread of their own, here the last one first."""

    def settle(self) -> None:
        """Wait until all threads are through."""
        self.queue.reverse()
        while self.queue:
            thread = Thread(target=self.run_one)
            thread.start()
            thread.join()


class ThreadTimer(SmallTimer):
    """A timer whose tasks run in a thread of its executor."""

    def settle(self) -> None:
        """Wait until the executor is idle."""
        if self.queue:
            thread = Thread(target=self.run_all)
            thread.start()
            thread.join()
