"""Timers that somebody has written with plain ``threading``, with threads of their own or without.

Those with threads read the real clock and sleep; those without are advanced by their caller.
"""

import heapq
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ClassVar

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import Add, Advance, Cancel, Operation, Wait
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

_CANCEL = frozenset({Feature.CANCEL})


class Timer:
    """Tasks by name, with the time when each is due; whoever advances it runs them."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.due: dict[str, int] = {}
        self.count = 0
        self.lock = threading.Lock()

    def add(self, task: str, delay_ms: int) -> None:
        with self.lock:
            self.due[task] = self.now_ms + delay_ms

    def cancel(self, task: str) -> None:
        with self.lock:
            self.due.pop(task, None)

    def advance(self, now_ms: int, run: Run) -> None:
        with self.lock:
            self.now_ms = now_ms
            late = [task for task in self.due if self.due[task] <= now_ms]
            tasks = [(self.due.pop(task), task) for task in late]
        for _, task in sorted(tasks):
            run(task)


class CountsApart(Timer):
    """Keeps its size in a count that is changed without the lock."""

    def add(self, task: str, delay_ms: int) -> None:
        super().add(task, delay_ms)
        self.count += 1

    def advance(self, now_ms: int, run: Run) -> None:
        super().advance(now_ms, lambda task: self.expire(task, run))

    def expire(self, task: str, run: Run) -> None:
        self.count -= 1
        run(task)


class Buckets(Timer):
    """A list of tasks for each tick; a missing list is made when that was seen: check, then act."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.buckets: dict[int, list[str]] = {}

    def add(self, task: str, delay_ms: int) -> None:
        with self.lock:
            tick = self.now_ms + delay_ms
            bucket = self.buckets.get(tick)
        if bucket is None:
            bucket = []
            with self.lock:
                self.buckets[tick] = bucket
        with self.lock:
            bucket.append(task)

    def cancel(self, task: str) -> None:
        with self.lock:
            for bucket in self.buckets.values():
                if task in bucket:
                    bucket.remove(task)

    def advance(self, now_ms: int, run: Run) -> None:
        with self.lock:
            self.now_ms = now_ms
            late = [self.buckets.pop(tick) for tick in sorted(self.buckets) if tick <= now_ms]
        for bucket in late:
            for task in bucket:
                run(task)


class Advanced:
    """A timer behind the steps that is advanced by its caller."""

    kind: ClassVar[type[Timer]] = Timer

    def __init__(self, configuration: Configuration) -> None:
        assert isinstance(configuration, TimerConfiguration)
        self.timer = self.kind(configuration.start_ms)

    def do(self, operation: Operation) -> Outcome:
        events: list[Event] = []
        match operation:
            case Add(task, delay_ms):
                self.timer.add(task, delay_ms)
            case Cancel(task):
                self.timer.cancel(task)
            case Advance(to_ms):
                self.timer.advance(to_ms, lambda task: events.append(ran(task)))
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        return Outcome(events=tuple(events), observed={"size": self.timer.count})

    def close(self) -> None:
        pass


class InOneList(Advanced):
    """The same as one thread needs it: the events of all calls go into one list."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.events: list[Event] = []

    def do(self, operation: Operation) -> Outcome:
        self.events.clear()
        if isinstance(operation, Advance):
            self.timer.advance(operation.to_ms, lambda task: self.events.append(ran(task)))
        else:
            super().do(operation)
        return Outcome(events=tuple(self.events))


class Reaper:
    """A heap, and a thread that waits under a condition for the first task."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.heap: list[tuple[float, str]] = []
        self.changed = threading.Condition()
        self.stopped = False
        self.thread = threading.Thread(target=self.reap, name="reaper", daemon=True)
        self.thread.start()

    def add(self, task: str, delay_ms: int) -> None:
        with self.changed:
            heapq.heappush(self.heap, (time.monotonic() + delay_ms / 1000, task))
            self.changed.notify()

    def cancel(self, task: str) -> None:
        with self.changed:
            self.heap = [each for each in self.heap if each[1] != task]
            heapq.heapify(self.heap)

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify()
        self.thread.join()

    def reap(self) -> None:
        while True:
            with self.changed:
                while not self.stopped and self.left_s() != 0:
                    self.changed.wait(self.left_s())
                if self.stopped:
                    return
                _, task = heapq.heappop(self.heap)
            self.run(task)

    def left_s(self) -> float | None:
        return max(0.0, self.heap[0][0] - time.monotonic()) if self.heap else None


class LosesAWakeUp(Reaper):
    """Looks how long it may sleep before it takes the lock: an add in between wakes nobody."""

    def reap(self) -> None:
        while not self.stopped:
            left_s = self.left_s()
            if left_s != 0:
                with self.changed:
                    self.changed.wait(left_s)
                continue
            with self.changed:
                _, task = heapq.heappop(self.heap)
            self.run(task)


class DiesOfACancel(Reaper):
    """Takes out the task that was the first, though somebody may have cancelled it meanwhile."""

    def reap(self) -> None:
        while not self.stopped:
            with self.changed:
                if self.left_s() != 0:
                    self.changed.wait(self.left_s())
                    continue
                first = self.heap[0]
            with self.changed:
                self.heap.remove(first)
                heapq.heapify(self.heap)
            self.run(first[1])


class Polls(Reaper):
    """Sleeps a little, and looks."""

    def reap(self) -> None:
        while not self.stopped:
            late: list[str] = []
            with self.changed:
                while self.left_s() == 0:
                    late.append(heapq.heappop(self.heap)[1])
            for task in late:
                self.run(task)
            time.sleep(0.01)


class OneThreadEach:
    """A ``threading.Timer`` for each task."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.lock = threading.Lock()
        self.timers: dict[str, threading.Timer] = {}

    def add(self, task: str, delay_ms: int) -> None:
        timer = threading.Timer(delay_ms / 1000, self.expire, [task])
        with self.lock:
            self.timers[task] = timer
        timer.start()

    def expire(self, task: str) -> None:
        with self.lock:
            if self.timers.get(task) is not threading.current_thread():
                return
            del self.timers[task]
        self.run(task)

    def cancel(self, task: str) -> None:
        with self.lock:
            timer = self.timers.pop(task, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        for timer in list(self.timers.values()):
            timer.cancel()


class Commands:
    """A thread that takes commands from a queue, and a pool of threads that runs the tasks."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.commands: queue.Queue[tuple[str, str, float]] = queue.Queue()
        self.workers = ThreadPoolExecutor(1)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.loop, name="loop")
        self.thread.start()

    def add(self, task: str, delay_ms: int) -> None:
        self.commands.put(("add", task, time.monotonic() + delay_ms / 1000))

    def cancel(self, task: str) -> None:
        self.commands.put(("cancel", task, 0))

    def stop(self) -> None:
        self.stopping.set()
        self.commands.put(("stop", "", 0))
        self.thread.join()
        self.workers.shutdown()

    def loop(self) -> None:
        due: dict[str, float] = {}
        while not self.stopping.is_set():
            first = min(due.values(), default=None)
            left_s = None if first is None else max(0.0, first - time.monotonic())
            try:
                command, task, at = self.commands.get(timeout=left_s)
                if command == "add":
                    due[task] = at
                elif command == "cancel":
                    due.pop(task, None)
            except queue.Empty:
                pass
            for task in [task for task in due if due[task] <= time.monotonic()]:
                del due[task]
                self.workers.submit(self.run, task)


class ByItself:
    """A timer behind the steps that runs its tasks by itself."""

    kind: ClassVar[Callable[[Run], Reaper | OneThreadEach | Commands]] = Reaper

    def __init__(self, configuration: Configuration) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.timer = type(self).kind(self.note)

    def note(self, task: str) -> None:
        self.events.put(Event(EventKind.RAN, task, at_ms=now_ms()))

    def do(self, operation: Operation) -> Outcome:
        called_ms = now_ms()
        match operation:
            case Add(task, delay_ms):
                self.timer.add(task, delay_ms)
            case Cancel(task):
                self.timer.cancel(task)
            case Wait(for_ms):
                time.sleep(for_ms / 1000)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)
        events = tuple(self.noted())
        return Outcome(events=events, called_ms=called_ms, returned_ms=now_ms())

    def noted(self) -> Iterator[Event]:
        with suppress(queue.Empty):
            while True:
                yield self.events.get_nowait()

    def close(self) -> None:
        self.timer.stop()


def now_ms() -> int:
    return int(time.monotonic() * 1000)


def _advanced(timer: type[Timer]) -> InProcessSubject:
    profile = TimerProfile(features=_CANCEL)
    return subject_of(type(timer.__name__, (Advanced,), {"kind": timer}), profile)


def _by_itself(timer: type[Reaper | OneThreadEach | Commands]) -> InProcessSubject:
    profile = TimerProfile(
        clock=Clock.WALL, executor=Executor.THREADS, rounding=Rounding.EXACT, features=_CANCEL
    )
    return subject_of(type(timer.__name__, (ByItself,), {"kind": timer}), profile)


def right() -> InProcessSubject:
    return _advanced(Timer)


def counts_apart() -> InProcessSubject:
    profile = TimerProfile(observables=frozenset({Observable.SIZE}))
    return subject_of(type("CountsApart", (Advanced,), {"kind": CountsApart}), profile)


def in_one_list() -> InProcessSubject:
    return subject_of(InOneList, TimerProfile(features=_CANCEL))


def buckets() -> InProcessSubject:
    return _advanced(Buckets)


def reaper() -> InProcessSubject:
    return _by_itself(Reaper)


def loses_a_wake_up() -> InProcessSubject:
    return _by_itself(LosesAWakeUp)


def dies_of_a_cancel() -> InProcessSubject:
    return _by_itself(DiesOfACancel)


def polls() -> InProcessSubject:
    return _by_itself(Polls)


def one_thread_each() -> InProcessSubject:
    return _by_itself(OneThreadEach)


def commands() -> InProcessSubject:
    return _by_itself(Commands)
