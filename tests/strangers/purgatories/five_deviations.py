"""A port of Kafka's purgatory that has the five deviations of Apache Fluss 0.9.1."""

import heapq
from collections import deque

from purgatory_spec import operations as op
from purgatory_spec import outcomes
from purgatory_spec.profiles import Component

from ..adapters import Delayed, PurgatoryInstance, ScriptFailure
from ..design import Stranger


class PortedPurgatory:
    """Watches, then arms; an executor of its own completes what has expired."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        self.purge_interval, self.tick_ms, self.now_ms = purge_interval, tick_ms, now_ms
        self.watchers: dict[str, list[Delayed]] = {}
        self.completed: set[Delayed] = set()
        self.armed: dict[Delayed, int] = {}
        self.heap: list[tuple[int, int, Delayed]] = []
        self.executor: deque[Delayed] = deque()
        self.expired: list[str] = []
        self.is_open = True
        self.estimated = self.numbers = 0

    # A completed operation is tried and watched as any other; so is any after a shutdown.
    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if self.try_complete(operation):
            return True
        for key in keys:
            self.watchers.setdefault(key, []).append(operation)
        self.estimated += 1
        if self.try_complete(operation):  # an exception leaves the operation without a time-out
            return True
        if operation not in self.completed and self.is_open:
            self.arm(operation)
        return False

    def try_complete(self, operation: Delayed) -> bool:
        return operation.can_complete() and self.force(operation)

    def arm(self, operation: Delayed) -> None:
        self.numbers += 1
        due = (self.now_ms + operation.delay_ms) // self.tick_ms * self.tick_ms
        self.armed[operation] = self.numbers
        heapq.heappush(self.heap, (due, self.numbers, operation))

    def force(self, operation: Delayed) -> bool:
        if operation in self.completed:
            return False
        self.completed.add(operation)
        self.armed.pop(operation, None)
        operation.on_complete()
        return True

    def check(self, key: str) -> int:
        count = 0
        for operation in list(self.watchers.get(key, ())):
            if operation not in self.completed and self.try_complete(operation):
                count += 1
            if operation in self.completed and operation in self.watchers.get(key, ()):
                self.watchers[key].remove(operation)
                self.forget_empty(key)
        return count

    def forget_empty(self, key: str) -> None:
        if not self.watchers[key]:
            del self.watchers[key]

    # The time-out is cancelled though the operation may be watched under other keys.
    def cancel(self, key: str) -> list[str]:
        cancelled = self.watchers.pop(key, [])
        for operation in cancelled:
            self.armed.pop(operation, None)
        return [operation.name for operation in cancelled]

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    # What has expired has left the timer and is not completed: the estimate forgets it.
    def advance(self) -> None:
        self.expired = []
        if not self.is_open:
            return
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, number, operation = heapq.heappop(self.heap)
            if self.armed.get(operation) == number:
                del self.armed[operation]
                self.executor.append(operation)
                self.expired.append(operation.name)
        if self.estimated - len(self.armed) > self.purge_interval:
            self.estimated = len(self.armed)
            self.purge()

    def purge(self) -> None:
        for key in list(self.watchers):
            kept = [each for each in self.watchers[key] if each not in self.completed]
            self.watchers[key] = kept
            self.forget_empty(key)

    def run_one(self) -> None:
        operation = self.executor.popleft()
        if self.force(operation):
            operation.on_expiration()

    def shutdown(self) -> None:
        self.is_open = False
        self.armed.clear()

    def entries(self) -> int:
        return sum(map(len, self.watchers.values()))

    def stale(self) -> int:
        watched = {each for watchers in self.watchers.values() for each in watchers}
        return len(watched & self.completed)


class PortedInstance(PurgatoryInstance):
    """Shows the sizes that the port's own tests look at."""

    purgatory: PortedPurgatory

    def call(self, operation: op.Operation) -> outcomes.Value:
        """Call what only this port has: its executor, and its shutdown."""
        match operation:
            case op.Advance(to_ms):
                self.purgatory.elapse(to_ms)
                self.purgatory.advance()
                self.events += map(outcomes.expired, self.purgatory.expired)
            case op.RunOne():
                if self.purgatory.executor:
                    try:
                        self.purgatory.run_one()
                    except ScriptFailure:
                        return None
            case op.Shutdown():
                self.purgatory.shutdown()
            case _:
                return super().call(operation)
        return None

    def shown(self) -> dict[str, outcomes.Value]:
        """The sizes of lists, timer and executor."""
        return {
            "entries": self.purgatory.entries(),
            "stale_operations": self.purgatory.stale(),
            "timer_size": len(self.purgatory.armed),
            "queued": len(self.purgatory.executor),
            "estimate": self.purgatory.estimated,
        }


PORT = Stranger(
    Component.PURGATORY,
    {
        "executor": "stepped",
        "features": [
            *("force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown"),
            *("script_throw", "script_watch", "script_check", "script_cancel_for_key"),
            *("script_force", "script_try"),
        ],
        "observables": ["entries", "stale_operations", "timer_size", "queued", "estimate"],
    },
    PortedPurgatory,
    {},
    lambda design, asked: PortedInstance(
        design(asked.purge_interval, asked.tick_ms, asked.start_ms)
    ),
)
