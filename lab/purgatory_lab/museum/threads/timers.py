"""Timers with races and deadlocks that people reported, beside timers without.

Each is written with plain ``threading``, as its author would, and stands alone in this module:
``purgatory schedule purgatory_lab.museum.threads.timers:lost_bucket``.
"""

import heapq
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import ClassVar, Protocol

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import Add, Advance, Cancel, Operation, Shutdown, Wait
from purgatory_spec.outcomes import Event, EventKind, Outcome, ran
from purgatory_spec.profiles import (
    Clock,
    Configuration,
    Executor,
    Feature,
    Observable,
    Rounding,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

Run = Callable[[str], object]


class Buckets:
    """A timer with a list of tasks for each tick, which its caller advances."""

    def __init__(self, now_ms: int) -> None:
        """Make a timer without tasks."""
        self.now_ms = now_ms
        self.lock = threading.RLock()
        self.buckets: dict[int, list[str]] = {}
        self.count = 0
        self.closed = False

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        with self.lock:
            if self.closed:
                raise ValueError(task)
            self.bucket(self.now_ms + delay_ms).append(task)
            self.count += 1

    def bucket(self, tick: int) -> list[str]:
        """Return the bucket of a tick."""
        return self.buckets.setdefault(tick, [])

    def cancel(self, task: str) -> None:
        """Disarm a task."""
        with self.lock:
            for bucket in self.buckets.values():
                if task in bucket:
                    bucket.remove(task)
                    self.count -= 1

    def advance(self, now_ms: int, run: Run) -> None:
        """Run what is due by now."""
        for task in self.pop(now_ms):
            run(task)

    def pop(self, now_ms: int) -> list[str]:
        """Take out what is due by now, the earliest first."""
        with self.lock:
            self.now_ms = now_ms
            ticks = sorted(tick for tick in self.buckets if tick <= now_ms)
            due = [task for tick in ticks for task in self.buckets.pop(tick)]
            self.count -= len(due)
        return due

    def shut_down(self) -> None:
        """Drop what is pending, and take nothing more."""
        with self.lock:
            self.closed = True
            self.buckets.clear()
            self.count = 0


class LostBucket(Buckets):
    """Looks for the bucket of a tick, and makes it when that is done: two threads make two."""

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        tick = self.now_ms + delay_ms
        bucket = self.buckets.get(tick)
        if bucket is None:
            bucket = self.buckets[tick] = []
        with self.lock:
            bucket.append(task)
            self.count += 1


class EmptiedBucket(Buckets):
    """Appends to the bucket that it has found, though that may have been emptied since."""

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        with self.lock:
            bucket = self.bucket(self.now_ms + delay_ms)
            self.count += 1
        bucket.append(task)


class CountedTwice(Buckets):
    """Counts off a task where it is cancelled, and again where it has been taken to run."""

    def pop(self, now_ms: int) -> list[str]:
        """Take out what is due by now; what somebody cancels meanwhile counts as well."""
        with self.lock:
            self.now_ms = now_ms
            late = sorted(tick for tick in self.buckets if tick <= now_ms)
            due = [task for tick in late for task in self.buckets[tick]]
        with self.lock:
            for tick in late:
                self.buckets.pop(tick, None)
            self.count -= len(due)
        return due


class ClosedBetween(Buckets):
    """Looks whether it is closed before it takes its lock: a shutdown in between is not seen."""

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        if self.closed:
            raise ValueError(task)
        with self.lock:
            self.bucket(self.now_ms + delay_ms).append(task)
            self.count += 1


class RunsUnderItsLock(Buckets):
    """Holds its lock while tasks run: who adds under a lock that a task takes waits for ever."""

    def advance(self, now_ms: int, run: Run) -> None:
        """Run what is due by now."""
        with self.lock:
            super().advance(now_ms, run)


class LockOfEachTask(Buckets):
    """Has a lock for each task, under which a cancel takes that of the timer."""

    def __init__(self, now_ms: int) -> None:
        """Make a timer without tasks."""
        super().__init__(now_ms)
        self.of_task: dict[str, threading.Lock] = {}

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        self.of_task[task] = threading.Lock()
        super().add(task, delay_ms)

    def cancel(self, task: str) -> None:
        """Disarm a task."""
        with self.of_task[task]:
            super().cancel(task)

    def advance(self, now_ms: int, run: Run) -> None:
        """Run what is due by now."""
        for task in self.pop(now_ms):
            with self.of_task[task]:
                run(task)


class InBothOrders(LockOfEachTask):
    """Takes a task's lock under that of the timer where it expires, and vice versa elsewhere."""

    def pop(self, now_ms: int) -> list[str]:
        """Take out what is due by now, the earliest first."""
        with self.lock:
            due = super().pop(now_ms)
            for task in due:
                with self.of_task[task]:
                    self.of_task.setdefault(task, threading.Lock())
        return due


class Advanced:
    """A timer of a kind behind the steps."""

    kind: ClassVar[type[Buckets]] = Buckets

    def __init__(self, configuration: Configuration) -> None:
        """Make a timer."""
        assert isinstance(configuration, TimerConfiguration)
        self.timer = self.kind(configuration.start_ms)

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        events: list[Event] = []
        try:
            match operation:
                case Add(task, delay_ms):
                    self.add(task, delay_ms)
                case Cancel(task):
                    self.timer.cancel(task)
                case Advance(to_ms):
                    self.timer.advance(to_ms, lambda task: self.note(task, events))
                case Shutdown():
                    self.timer.shut_down()
                case _:
                    return Outcome(rejected=Reason.UNSUPPORTED)
        except ValueError:
            return Outcome(rejected=Reason.CLOSED)
        return Outcome(events=tuple(events), observed={"size": self.timer.count})

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        self.timer.add(task, delay_ms)

    def note(self, task: str, events: list[Event]) -> None:
        """Note that a task has run."""
        events.append(ran(task))

    def close(self) -> None:
        """Hold nothing that would have to be given back."""


class AdvancedByAUser(Advanced):
    """The same for a user who adds under a lock that the tasks take as well."""

    def __init__(self, configuration: Configuration) -> None:
        """Make a timer."""
        super().__init__(configuration)
        self.mine = threading.Lock()

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        with self.mine:
            super().add(task, delay_ms)

    def note(self, task: str, events: list[Event]) -> None:
        """Note that a task has run."""
        with self.mine:
            super().note(task, events)


class Reaper:
    """A heap of tasks, and a thread that waits for the first of them."""

    def __init__(self, run: Run) -> None:
        """Start the thread."""
        self.run = run
        self.heap: list[tuple[float, str]] = []
        self.changed = threading.Condition()
        self.stopped = False
        self.thread = threading.Thread(target=self.reap, name="reaper", daemon=True)
        self.thread.start()

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task."""
        with self.changed:
            heapq.heappush(self.heap, (time.monotonic() + delay_ms / 1000, task))
            self.changed.notify()

    def cancel(self, task: str) -> None:
        """Disarm a task that waits."""
        with self.changed:
            self.heap = [each for each in self.heap if each[1] != task]
            heapq.heapify(self.heap)

    def stop(self) -> None:
        """End the thread."""
        with self.changed:
            self.stopped = True
            self.changed.notify()
        self.thread.join()

    def reap(self) -> None:
        """Run each task when it is due."""
        while not self.stopped:
            with self.changed:
                left_s = self.left_s()
                if left_s != 0:
                    self.wait(left_s)
                    continue
                _, task = heapq.heappop(self.heap)
            self.run(task)

    def wait(self, left_s: float | None) -> None:
        """Wait for a change, so long at the most; the lock is held."""
        if not self.stopped:
            self.changed.wait(left_s)

    def left_s(self) -> float | None:
        """Return the time until the first task is due, s; None where there is no task."""
        return max(0.0, self.heap[0][0] - time.monotonic()) if self.heap else None


class LosesAWakeUp(Reaper):
    """Looks how long it may wait, and takes the lock to wait when that is known."""

    def reap(self) -> None:
        """Run each task when it is due."""
        while not self.stopped:
            with self.changed:
                left_s = self.left_s()
                task = heapq.heappop(self.heap)[1] if left_s == 0 else ""
            if task:
                self.run(task)
                continue
            with self.changed:
                self.wait(left_s)


class Threaded(Protocol):
    """A timer whose own threads run the functions given to it."""

    def __init__(self, run: Run) -> None:
        """Make a timer, and start its threads."""

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task for later."""

    def cancel(self, task: str) -> None:
        """Disarm a task that waits."""

    def stop(self) -> None:
        """End the threads of the timer."""


class ByItself:
    """A timer of a kind behind the steps that runs its tasks by itself."""

    kind: ClassVar[type[Threaded]] = Reaper

    def __init__(self, configuration: Configuration) -> None:
        """Make a timer."""
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.timer = self.kind(self.note)

    def note(self, task: str) -> None:
        """Note that a task has run."""
        self.events.put(Event(EventKind.RAN, task, at_ms=_now_ms()))

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        called_ms = _now_ms()
        match operation:
            case Add(task, delay_ms):
                self.timer.add(task, delay_ms)
            case Cancel(task):
                self.timer.cancel(task)
            case Wait(for_ms):
                time.sleep(for_ms / 1000)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        events: list[Event] = []
        with suppress(queue.Empty):
            while True:
                events.append(self.events.get_nowait())
        return Outcome(events=tuple(events), called_ms=called_ms, returned_ms=_now_ms())

    def close(self) -> None:
        """End the timer's thread."""
        self.timer.stop()


def _now_ms() -> int:
    return int(time.monotonic() * 1000)


def advanced(timer: type[Buckets], *features: Feature, size: bool = False) -> InProcessSubject:
    """Return a subject of timers of a class that their caller advances."""
    shown = frozenset({Observable.SIZE}) if size else frozenset[Observable]()
    profile = TimerProfile(features=frozenset(features), observables=shown)
    return subject_of(type(timer.__name__, (Advanced,), {"kind": timer}), profile)


def _of_a_user(timer: type[Buckets]) -> InProcessSubject:
    return subject_of(type(timer.__name__, (AdvancedByAUser,), {"kind": timer}), TimerProfile())


def by_itself(timer: type[Threaded], *features: Feature) -> InProcessSubject:
    """Return a subject of a class of timers that run tasks in threads of their own."""
    profile = TimerProfile(
        clock=Clock.WALL,
        executor=Executor.THREADS,
        rounding=Rounding.EXACT,
        features=frozenset(features),
    )
    return subject_of(type(timer.__name__, (ByItself,), {"kind": timer}), profile)


buckets = partial(advanced, Buckets, Feature.CANCEL, Feature.SHUTDOWN, size=True)
lock_of_each_task = partial(advanced, LockOfEachTask, Feature.CANCEL)
reaper = partial(by_itself, Reaper)
lost_bucket = partial(advanced, LostBucket)
emptied_bucket = partial(advanced, EmptiedBucket)
counted_twice = partial(advanced, CountedTwice, Feature.CANCEL, size=True)
closed_between = partial(advanced, ClosedBetween, Feature.SHUTDOWN, size=True)
runs_under_its_lock = partial(_of_a_user, RunsUnderItsLock)
buckets_of_a_user = partial(_of_a_user, Buckets)
in_both_orders = partial(advanced, InBothOrders, Feature.CANCEL)
loses_a_wake_up = partial(by_itself, LosesAWakeUp)
