"""The timer of the old design: a binary heap of requests, the next one to expire on top.

Adding a request and taking one out cost O(log n) of the requests that are there, completed ones
included, since these stay until they are due or until a purge goes through the whole queue.

One lock guards the heap. The expiration thread sleeps under another one, which whoever wakes it
takes afterwards, so that a push costs no more than it has to.
"""

import threading
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

from purgatory_impl import Clock
from purgatory_impl.exclusion import SectionLock, pure
from purgatory_impl.task import COMPILED
from purgatory_lab.benchmarks.baselines.old_operation import DelayedOperation

_Request: TypeAlias = Any
"""A request as a tuple: its due time, ms; its number; its operation.

The number tells requests of one millisecond apart, so that operations are never compared. A type
that is declared as a tuple would be taken apart and made anew at each access in the compiled build.
"""


class DelayQueue:
    """Requests by the time at which they are due; all methods may be called from any thread."""

    __slots__ = (
        "_asleep",
        "_clock",
        "_closed",
        "_earlier",
        "_lock",
        "_number",
        "_sleep",
        "_waiting",
    )

    def __init__(self, clock: Clock) -> None:
        """Make an empty queue on a clock.

        Args:
            clock: Where ``wait_until_due`` takes the time from.
        """
        self._clock = clock
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._sleep = threading.Lock()
        self._earlier = threading.Condition(self._sleep)
        self._asleep = False
        self._waiting: list[_Request] = []
        self._number = 0
        self._closed = False

    @property
    def length(self) -> int:
        """Return the number of requests in the queue, completed ones included."""
        return len(self._waiting)

    def push(self, operation: DelayedOperation, expiry_ms: int) -> None:
        """Let a request wait until ``expiry_ms``; a closed queue takes none."""
        with self._lock:
            if self._closed:
                return
            self._number += 1
            request: _Request = (expiry_ms, self._number, operation)
            heappush(self._waiting, request)
            is_earlier = self._asleep and self._waiting[0] is request
            if is_earlier:
                self._asleep = False
        if is_earlier:
            self._wake()

    def take_due(self, now_ms: int) -> list[DelayedOperation]:
        """Take out all requests that are due, the earliest first; completed ones are let go of."""
        due: list[DelayedOperation] = []
        completed: list[DelayedOperation] = []
        with self._lock:
            waiting = self._waiting
            while waiting and waiting[0][0] <= now_ms:
                operation: DelayedOperation = heappop(waiting)[2]
                if operation._completed:
                    completed.append(operation)
                else:
                    due.append(operation)
        # Outside the lock: a finaliser of what is let go of is user code.
        completed.clear()
        return due

    def purge(self) -> int:
        """Go through the whole queue and take the completed requests out; how many there were."""
        with self._lock:
            before = self._waiting
            live: list[_Request] = []
            for request in before:
                operation: DelayedOperation = request[2]
                if not operation._completed:
                    live.append(request)
            heapify(live)
            self._waiting = live
        return len(before) - len(live)

    def wait_until_due(self, most_ms: int) -> bool:
        """Sleep until the first request is due, ``most_ms`` at most.

        Returns:
            False once the queue is closed.
        """
        last_ms = self._clock.now_ms() + most_ms
        # Who finds the thread asleep wakes it under this lock, and so not before it waits.
        with self._earlier:
            while True:
                with self._lock:
                    if self._closed:
                        return False
                    due_ms: int = self._waiting[0][0] if self._waiting else last_ms
                    self._asleep = True
                due_ms = min(due_ms, last_ms)
                if due_ms <= self._clock.now_ms():
                    with self._lock:
                        self._asleep = False
                    return True
                self._clock.wait_until(self._earlier, due_ms)

    def close(self) -> None:
        """Drop what waits, take no more, and wake who waits."""
        with self._lock:
            self._closed = True
            dropped = self._waiting
            self._waiting = []
        self._wake()
        dropped.clear()

    def _wake(self) -> None:
        with self._earlier:
            self._earlier.notify_all()
