"""A purgatory whose lists are rings: a check turns a round, a cancellation answers who waits."""

from collections import deque

from purgatory_spec.profiles import Component

from ..adapters import Delayed, PurgatoryInstance
from ..design import Stranger
from .time_outs import TimeOuts


class RotatingPurgatory:
    """What still waits goes to the end of its ring, so that a whole round leaves the order."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        self.purge_interval = purge_interval
        self.rings: dict[str, deque[Delayed]] = {}
        self.done: set[Delayed] = set()
        self.time_outs = TimeOuts(tick_ms, now_ms)

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if not keys:
            raise ValueError("at least one key")
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        for key in keys:
            self.rings.setdefault(key, deque()).append(operation)
        self.time_outs.arm(operation)
        return self.attempt(operation)

    def attempt(self, operation: Delayed) -> bool:
        return operation.can_complete() and self.force(operation)

    def force(self, operation: Delayed) -> bool:
        if operation in self.done:
            return False
        self.done.add(operation)
        self.time_outs.disarm(operation)
        operation.on_complete()
        return True

    def check(self, key: str) -> int:
        ring, count = self.rings.get(key, deque()), 0
        for _ in range(len(ring)):
            operation = ring.popleft()
            if operation not in self.done:
                count += self.attempt(operation)
            if operation not in self.done:
                ring.append(operation)
        return count

    def cancel(self, key: str) -> list[str]:
        cancelled = [each for each in self.rings.pop(key, ()) if each not in self.done]
        loose = [each for each in cancelled if not self.is_watched(each)]
        for operation in loose:
            self.time_outs.disarm(operation)
        return self.answer(cancelled, loose)

    def answer(self, cancelled: list[Delayed], loose: list[Delayed]) -> list[str]:
        return [operation.name for operation in cancelled]

    def is_watched(self, operation: Delayed) -> bool:
        return any(operation in ring for ring in self.rings.values())

    def elapse(self, now_ms: int) -> None:
        self.time_outs.now_ms = now_ms

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        if sum(o in self.done for ring in self.rings.values() for o in ring) > self.purge_interval:
            for key, ring in self.rings.items():
                self.rings[key] = deque(each for each in ring if each not in self.done)

    def expire(self, operation: Delayed) -> None:
        if self.force(operation):
            operation.on_expiration()

    def entries(self) -> int:
        return sum(map(len, self.rings.values()))


class AnswersTheLoose(RotatingPurgatory):
    """A cancellation leaves out who is still watched elsewhere."""

    def answer(self, cancelled: list[Delayed], loose: list[Delayed]) -> list[str]:
        return [operation.name for operation in loose]


class CancelsOneKeyForAll(RotatingPurgatory):
    """A cancellation takes the time-out of who is still watched elsewhere, as Kafka's does."""

    def is_watched(self, operation: Delayed) -> bool:
        return False


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "check_drops": "as_passed",
        "cancel_result": "live",
        "negative_delay": "as_zero",
        "features": [
            "force",
            "cancel_for_key",
            "rewatch",
            "duplicate_keys",
            "elapse",
            "script_force",
        ],
        "observables": ["entries"],
    },
    RotatingPurgatory,
    lambda design, asked: PurgatoryInstance(
        design(asked.purge_interval, asked.tick_ms, asked.start_ms)
    ),
    {
        AnswersTheLoose: {"PURGATORY-CANCEL-RESULT"},
        CancelsOneKeyForAll: {"PURGATORY-CANCEL-KEEPS-TIME-OUT"},
    },
)
