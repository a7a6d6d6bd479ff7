"""A purgatory whose lists are rings: a check turns a round, a cancellation answers who waits."""

from collections import deque

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import Stranger
from .time_outs import CompletesOnce


class RotatingPurgatory(CompletesOnce):
    """A purgatory of rings: a waiting operation goes to the end, and a round keeps the order."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.rings: dict[str, deque[Delayed]] = {}

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        for key in keys:
            self.rings.setdefault(key, deque()).append(operation)
        self.time_outs.arm(operation)
        return self.attempt(operation)

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

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        if sum(o in self.done for ring in self.rings.values() for o in ring) > self.purge_interval:
            for key, ring in self.rings.items():
                self.rings[key] = deque(each for each in ring if each not in self.done)

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
            *("force", "cancel_for_key", "rewatch"),
            *("duplicate_keys", "elapse", "script_force"),
        ],
        "observables": ["entries"],
    },
    RotatingPurgatory,
    {
        AnswersTheLoose: {"PURGATORY-CANCEL-RESULT"},
        CancelsOneKeyForAll: {"PURGATORY-CANCEL-KEEPS-TIME-OUT"},
    },
)
