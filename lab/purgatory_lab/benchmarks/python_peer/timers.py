"""The timers that are called directly: what the loops need of each."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Final, TypeAlias

from purgatory_impl import InlineExecutor, Timer, VirtualClock
from purgatory_lab.benchmarks.python_peer.draws import FAR, NEAR, VIRTUAL, Delays

Entry: TypeAlias = list[Any]
"""An entry: its expiry, ms, its number, and its callback, or None once cancelled."""

_LEAST_CANCELLED: Final = 100


class HeapTimer:
    """A timer for one thread, which sets the clock."""

    __slots__ = ("_cancelled", "_heap", "_numbers", "now_ms")

    def __init__(self) -> None:
        """Make an empty timer at 0 ms."""
        self.now_ms = 0
        self._heap: list[Entry] = []
        self._numbers = count()
        self._cancelled = 0

    @property
    def size(self) -> int:
        """Return the number of timers that wait."""
        return len(self._heap) - self._cancelled

    def add(self, callback: Callable[[], object], delay_ms: int) -> Entry:
        """Have something called ``delay_ms`` from now."""
        entry = [self.now_ms + delay_ms, next(self._numbers), callback]
        heappush(self._heap, entry)
        return entry

    def cancel(self, entry: Entry) -> bool:
        """Cancel a timer; return whether it still waited."""
        if entry[2] is None:
            return False
        entry[2] = None
        self._cancelled += 1
        if self._cancelled > _LEAST_CANCELLED and 2 * self._cancelled > len(self._heap):
            self._heap = [kept for kept in self._heap if kept[2] is not None]
            heapify(self._heap)
            self._cancelled = 0
        return True

    def take_due(self) -> list[Callable[[], object]]:
        """Take the callbacks out that are due, the earliest first."""
        due: list[Callable[[], object]] = []
        heap, now_ms = self._heap, self.now_ms
        while heap and heap[0][0] <= now_ms:
            entry = heappop(heap)
            if entry[2] is None:
                self._cancelled -= 1
            else:
                due.append(entry[2])
                entry[2] = None
        return due

    def lead_to(self, now_ms: int) -> None:
        """Set the clock, and call what is due."""
        self.now_ms = now_ms
        for callback in self.take_due():
            callback()


class ThreadedHeapTimer:
    """For any number of threads, on the real clock; a thread of its own calls what is due."""

    __slots__ = ("_closed", "_earlier", "_lock", "_timer", "_worker")

    def __init__(self) -> None:
        """Start the timer's thread."""
        self._timer = HeapTimer()
        self._lock = threading.Lock()
        self._earlier = threading.Condition(self._lock)
        self._closed = False
        self._worker = threading.Thread(target=self._work, name="heap-timer", daemon=True)
        self._worker.start()

    @property
    def size(self) -> int:
        """Return the number of timers that wait."""
        with self._lock:
            return self._timer.size

    def add(self, callback: Callable[[], object], delay_ms: int) -> Entry:
        """Have something called ``delay_ms`` from now."""
        with self._lock:
            timer = self._timer
            timer.now_ms = time.monotonic_ns() // 1_000_000
            entry = timer.add(callback, delay_ms)
            if timer._heap[0] is entry:
                self._earlier.notify()
        return entry

    def cancel(self, entry: Entry) -> bool:
        """Cancel a timer; return whether it still waited."""
        with self._lock:
            return self._timer.cancel(entry)

    def close(self) -> None:
        """End the thread; what waits is dropped."""
        with self._lock:
            self._closed = True
            self._earlier.notify()
        self._worker.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                timer = self._timer
                timer.now_ms = time.monotonic_ns() // 1_000_000
                due = timer.take_due()
                if self._closed:
                    return
                if not due:
                    heap = timer._heap
                    self._earlier.wait((heap[0][0] - timer.now_ms) / 1000 if heap else None)
            for callback in due:
                callback()


END_MS: Final = VIRTUAL.lowest_ms + VIRTUAL.span
"""The reading at which every timer of a virtual clock has been due, ms."""


@dataclass(frozen=True)
class MeasuredTimer:
    """A timer, ready to be measured.

    Attributes:
        add: Given a callback and a delay in ms, arms a fresh task; what it returns cancels it.
        cancel: Given that, whether the task was pending.
        size: How many are pending.
        lead_to_end: Leads the clock to the end and runs every task; None on the real clock.
    """

    add: Callable[[Callable[[], object], int], Any]
    cancel: Callable[[Any], bool]
    size: Callable[[], int]
    lead_to_end: Callable[[], None] | None = None


OpenTimer: TypeAlias = Callable[[], AbstractContextManager[MeasuredTimer]]


@dataclass(frozen=True)
class TimerKind:
    """The kind of a timer: its maker, and its delays for measures."""

    open: OpenTimer
    pending: Delays
    expiring: Delays


@contextmanager
def _virtual_timer() -> Iterator[MeasuredTimer]:
    clock = VirtualClock()
    with Timer(clock=clock, executor=InlineExecutor(), reaper=False) as timer:

        def lead_to_end() -> None:
            clock.set_ms(END_MS)
            timer.advance()

        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size, lead_to_end)


@contextmanager
def _system_timer() -> Iterator[MeasuredTimer]:
    with Timer() as timer:
        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size)


@contextmanager
def _virtual_heap() -> Iterator[MeasuredTimer]:
    timer = HeapTimer()
    yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size, lambda: timer.lead_to(END_MS))


@contextmanager
def _system_heap() -> Iterator[MeasuredTimer]:
    timer = ThreadedHeapTimer()
    try:
        yield MeasuredTimer(timer.add, timer.cancel, lambda: timer.size)
    finally:
        timer.close()


IMPLEMENTATION: Final = {
    "virtual": TimerKind(_virtual_timer, VIRTUAL, VIRTUAL),
    "system": TimerKind(_system_timer, FAR, NEAR),
}
"""Our timers: without a thread on a virtual clock, and as made without any argument."""

HEAP: Final = {
    "virtual": TimerKind(_virtual_heap, VIRTUAL, VIRTUAL),
    "system": TimerKind(_system_heap, FAR, NEAR),
}
"""The heap with lazy deletion."""
