"""The second thread of the workload: it completes each request at its time."""

import threading
import time
from array import array
from heapq import heappop, heappush
from typing import Final, TypeAlias

from purgatory_lab.benchmarks.python_peer.designs import ForcedRequest

MOST_AT_ONCE: Final = 256

_Entry: TypeAlias = tuple[int, int, ForcedRequest]


class Completer:
    """A queue of requests by their time, and the thread that takes them out.

    Attributes:
        completed: The number of requests completed by the thread.
        lags_ns: The lag of each request taken, ns; a request that had expired by then is included,
            since the lag of this thread may be the cause.
        failure: The exception that ended the thread early; None without a failure.
    """

    def __init__(self) -> None:
        """Start the completing thread."""
        self.completed = 0
        self.lags_ns = array("q")
        self.failure: BaseException | None = None
        self._waiting: list[_Entry] = []
        self._changed = threading.Condition(threading.Lock())
        self._closed = False
        self._numbers = 0
        self._thread = threading.Thread(target=self._run, name="completer", daemon=True)
        self._thread.start()

    def complete_at(self, due_ns: int, request: ForcedRequest) -> None:
        """Complete a request when ``time.perf_counter_ns`` has come so far; for one thread."""
        self._numbers += 1
        entry = (due_ns, self._numbers, request)
        with self._changed:
            heappush(self._waiting, entry)
            if self._waiting[0] is entry:
                self._changed.notify()

    def close(self) -> None:
        """End the thread; what is not due yet stays as it is."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._complete(batch)
        except BaseException as failure:
            self.failure = failure

    def _complete(self, batch: list[_Entry]) -> None:
        clock, note = time.perf_counter_ns, self.lags_ns.append
        completed = 0
        for due_ns, _, request in batch:
            completed += request.force_complete()
            note(clock() - due_ns)
        self.completed += completed

    def _next_batch(self) -> list[_Entry]:
        """Return the due requests, some at a time; empty when there will be no more."""
        batch: list[_Entry] = []
        waiting = self._waiting
        with self._changed:
            while not batch and not self._closed:
                now_ns = time.perf_counter_ns()
                while waiting and waiting[0][0] <= now_ns and len(batch) < MOST_AT_ONCE:
                    batch.append(heappop(waiting))
                if not batch:
                    self._changed.wait((waiting[0][0] - now_ns) / 1e9 if waiting else None)
        return batch
