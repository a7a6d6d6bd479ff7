"""A purgatory with one lock for everything, held while callbacks run; dictionaries and a heap."""

import heapq
import threading

from purgatory_spec.profiles import Component

from ..adapters import Delayed, ScriptFailure
from ..design import Stranger


class OneLockPurgatory:
    """A watch arms first and enters the lists afterwards; a waiting operation is watched once."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        self.lock = threading.RLock()
        self.purge_interval, self.tick_ms, self.now_ms = purge_interval, tick_ms, now_ms
        self.watchers: dict[str, dict[int, Delayed]] = {}
        self.completed: set[Delayed] = set()
        self.heap: list[tuple[int, int, Delayed]] = []
        self.numbers = 0

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        with self.lock:
            if operation.can_complete():
                return self.force(operation)
            due = (self.now_ms + operation.delay_ms) // self.tick_ms * self.tick_ms
            self.numbers += 1
            heapq.heappush(self.heap, (due, self.numbers, operation))
            for key in keys:
                self.numbers += 1
                self.watchers.setdefault(key, {})[self.numbers] = operation
            return operation.can_complete() and self.force(operation)

    def force(self, operation: Delayed) -> bool:
        with self.lock:
            if operation in self.completed:
                return False
            self.completed.add(operation)
            operation.on_complete()
            return True

    def check(self, key: str) -> int:
        with self.lock:
            count = 0
            for number, operation in list(self.watchers.get(key, {}).items()):
                if operation not in self.completed and self.is_ready(operation):
                    count += self.force(operation)
                if operation in self.completed:
                    self.remove(key, number)
            return count

    def is_ready(self, operation: Delayed) -> bool:
        return operation.can_complete()

    def remove(self, key: str, number: int) -> None:
        self.watchers.get(key, {}).pop(number, None)
        if key in self.watchers and not self.watchers[key]:
            del self.watchers[key]

    def cancel(self, key: str) -> list[str]:
        raise NotImplementedError("nothing can be cancelled here")

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        with self.lock:
            while self.heap and self.heap[0][0] <= self.now_ms:
                self.expire(heapq.heappop(self.heap)[2])
            stale = [
                (key, number)
                for key, each in self.watchers.items()
                for number, operation in each.items()
                if operation in self.completed
            ]
            if len(stale) > self.purge_interval:
                for key, number in stale:
                    self.remove(key, number)

    def expire(self, operation: Delayed) -> None:
        try:
            if self.force(operation):
                operation.on_expiration()
        except ScriptFailure:
            return

    def entries(self) -> int:
        return sum(map(len, self.watchers.values()))


class ExpiresTheCompleted(OneLockPurgatory):
    """The time-out of a completed operation is told as well."""

    def expire(self, operation: Delayed) -> None:
        try:
            self.force(operation)
            operation.on_expiration()
        except ScriptFailure:
            return


class StopsAtTheFirst(OneLockPurgatory):
    """A check stops at the first operation that must wait on."""

    def check(self, key: str) -> int:
        with self.lock:
            count = 0
            for number, operation in list(self.watchers.get(key, {}).items()):
                if operation not in self.completed and not self.is_ready(operation):
                    break
                count += self.force(operation)
                self.remove(key, number)
            return count


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "negative_delay": "already_due",
        "features": [
            *("force", "elapse", "script_throw", "script_watch"),
            *("script_check", "script_force", "script_try", "script_meanwhile", "script_crosswise"),
        ],
        "observables": ["entries"],
    },
    OneLockPurgatory,
    {
        ExpiresTheCompleted: {
            *("PURGATORY-WATCH-FIRST-TRY", "PURGATORY-WATCH-SECOND-TRY", "PURGATORY-TIMER-LEFT")
        },
        StopsAtTheFirst: {"PURGATORY-CHECK-ORDER", "PURGATORY-NOT-LOST"},
    },
)
