"""Timers that are right as well, and make other choices than the small one."""

from contextlib import suppress
from heapq import heapify, heappop, heappush
from threading import Thread

from purgatory_conformance.specimens.small.specimen import OrdinaryScriptFailure, Refusal
from purgatory_conformance.specimens.small.timer import Bucket, Fate, SmallTimer, Task
from purgatory_spec.profiles import TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason


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
        self.expire(due)
        return bool(due)

    def in_order(self, due: list[Task]) -> list[Task]:
        """Leave what is due in the order of the heap."""
        return due

    def keep(self, due: list[Task]) -> None:
        """Push refused tasks back."""
        for task in due:
            self.put(task)

    def pop_due(self) -> list[Task]:
        """Take what is due out of the heap, in order."""
        due: list[Task] = []
        while self.heap and self.heap[0][0] <= self.now_ms:
            due.append(heappop(self.heap)[2])
        return due


class LazyHeapTimer(HeapTimer):
    """A heap that leaves the entry of a cancelled or moved task where it is until it is due."""

    def leave(self, task: Task) -> None:
        """Leave the entry to an advance, which drops entries of armings that have ended."""

    def pop_due(self) -> list[Task]:
        """Take what is due out of the heap, and drop the entries whose arming has ended."""
        due: list[Task] = []
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, arming, task = heappop(self.heap)
            if task.arming == arming and task.fate is Fate.PENDING:
                due.append(task)
        return due


class RetryingTimer(HeapTimer):
    """A timer that lists refused tasks, and tries them before others; no caller hears of it."""

    def __init__(self, configuration: TimerConfiguration, profile: TimerProfile) -> None:
        """Begin with an empty list."""
        super().__init__(configuration, profile)
        self.refused_tasks: list[Task] = []

    def leave(self, task: Task) -> None:
        """Take the task out of the list as well."""
        super().leave(task)
        self.refused_tasks = [each for each in self.refused_tasks if each is not task]

    def shutdown(self) -> None:
        """Drop the list as well."""
        super().shutdown()
        self.refused_tasks = []

    def pop_due(self) -> list[Task]:
        """Return refused tasks, and what is due, in order."""
        again, self.refused_tasks = self.refused_tasks, []
        return SmallTimer.in_order(self, again + super().pop_due())

    def refused(self, due: list[Task]) -> None:
        """List the tasks, and go on."""
        self.refused_tasks += due


class StoppingTimer(SmallTimer):
    """A timing wheel whose advance ends at the first bucket that the executor refuses."""

    def advance(self) -> bool:
        """Pop buckets until the executor refuses one, which is put back."""
        if not self.refuses:
            return super().advance()
        popped = False
        while self.delay_queue and self.is_ready(first := self.first_bucket()):
            popped = True
            due = self.pop(first)
            if due:
                for task in due:
                    first.tasks.append(task)
                    task.bucket = first
                self.offer(first, first.expiry_ms)
                raise Refusal(Reason.REFUSED)
        return popped

    def pop(self, bucket: Bucket) -> list[Task]:
        """Pop a bucket, perhaps once more; the wheel's own clock does not go back."""
        own_clock_ms = self.own_clock_ms
        due = super().pop(bucket)
        self.own_clock_ms = max(own_clock_ms, self.own_clock_ms)
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


class PassingTimer(HeapTimer):
    """A timer that passes a severe exception on; what was handed over runs in the next step."""

    def run_one(self) -> None:
        """Run the task that has waited longest; an ordinary exception ends here."""
        if self.queue:
            task = self.next_to_run()
            with suppress(OrdinaryScriptFailure):
                self.run(task)


class OneByOneTimer(PassingTimer):
    """A timer that passes a severe exception on, and hands over one task at a time."""

    def advance(self) -> bool:
        """Run what is due, one task after the other; behind an exception the rest is pending."""
        self.run_all()
        ran = False
        while self.heap and self.heap[0][0] <= self.now_ms:
            ran = True
            self.pending -= 1
            self.hand_over([heappop(self.heap)[2]])
            self.run_one()
        return ran
