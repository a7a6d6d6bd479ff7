"""Timers that somebody has written with plain ``threading``, besides those of the museum.

Those with threads read the real clock and sleep; those without are advanced by their caller.
"""

import heapq
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_lab.museum.threads.timers import Advanced, Buckets, Reaper, Run, advanced, by_itself
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.outcomes import Event, Outcome, ran
from purgatory_spec.profiles import Configuration, Feature, TimerProfile


class Queue:
    """An executor with a lock of its own, which runs one task after the other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tasks: list[str] = []

    def put(self, task: str) -> None:
        with self.lock:
            self.tasks.append(task)

    def run_all(self, run: Run) -> None:
        while True:
            with self.lock:
                if not self.tasks:
                    return
                task = self.tasks.pop(0)
            run(task)


class HandsOver(Buckets):
    """Hands what is due to its executor, under no lock; a cancel looks there first."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.executor = Queue()

    def cancel(self, task: str) -> None:
        with self.executor.lock:
            is_late = task in self.executor.tasks
        if not is_late:
            super().cancel(task)

    def advance(self, now_ms: int, run: Run) -> None:
        super().advance(now_ms, self.executor.put)
        self.executor.run_all(run)


class HandsOverUnderItsLock(HandsOver):
    """Takes the executor's lock under its own, and in a cancel the other way."""

    def cancel(self, task: str) -> None:
        with self.executor.lock:
            if task not in self.executor.tasks:
                Buckets.cancel(self, task)

    def advance(self, now_ms: int, run: Run) -> None:
        with self.lock:
            Buckets.advance(self, now_ms, self.executor.put)
        self.executor.run_all(run)


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


def in_one_list() -> InProcessSubject:
    return subject_of(InOneList, TimerProfile(features=frozenset({Feature.CANCEL})))


hands_over = partial(advanced, HandsOver, Feature.CANCEL)
hands_over_under_its_lock = partial(advanced, HandsOverUnderItsLock, Feature.CANCEL)
dies_of_a_cancel = partial(by_itself, DiesOfACancel, Feature.CANCEL)
polls = partial(by_itself, Polls, Feature.CANCEL)
one_thread_each = partial(by_itself, OneThreadEach, Feature.CANCEL)
commands = partial(by_itself, Commands, Feature.CANCEL)
