"""A purgatory whose watchers are sets: nobody knows in which order a check meets them."""

from zlib import crc32

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import Stranger
from .time_outs import CompletesOnce


class HashSetPurgatory(CompletesOnce):
    """A set is passed in the order of its hashes, which here are the same in every run."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.watchers: dict[str, set[Delayed]] = {}

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if self.attempt(operation):
            return True
        if operation in self.done:
            return False
        for key in keys:
            self.watchers.setdefault(key, set()).add(operation)
        self.time_outs.arm(operation)
        return self.attempt(operation)

    def in_order(self, operations: set[Delayed]) -> list[Delayed]:
        return sorted(operations, key=lambda operation: crc32(operation.name.encode()))

    def check(self, key: str) -> int:
        count = 0
        for operation in self.in_order(self.watchers.get(key, set())):
            if operation not in self.done:
                count += self.attempt(operation)
            if operation in self.done:
                self.leave(key, operation)
        return count

    def leave(self, key: str, operation: Delayed) -> None:
        self.watchers.get(key, set()).discard(operation)
        if not self.watchers.get(key, True):
            del self.watchers[key]

    def cancel(self, key: str) -> list[str]:
        cancelled = self.watchers.pop(key, set())
        for operation in cancelled:
            if all(operation not in others for others in self.watchers.values()):
                self.time_outs.disarm(operation)
        return [operation.name for operation in self.in_order(cancelled)]

    def advance(self) -> None:
        self.time_outs.run_together(self.expire)
        stale = sum(len(operations & self.done) for operations in self.watchers.values())
        if stale > self.purge_interval:
            for key, operations in list(self.watchers.items()):
                for operation in operations & self.done:
                    self.leave(key, operation)

    def entries(self) -> int:
        return sum(map(len, self.watchers.values()))


class LooksAtHalf(HashSetPurgatory):
    """A check meets every other operation of a set."""

    def in_order(self, operations: set[Delayed]) -> list[Delayed]:
        return super().in_order(operations)[::2]


class KeepsWhatItCompletes(HashSetPurgatory):
    """Leaves the operations that a check completes in the set until another call meets them."""

    def check(self, key: str) -> int:
        count = 0
        for operation in self.in_order(self.watchers.get(key, set())):
            if operation in self.done:
                self.leave(key, operation)
            else:
                count += self.attempt(operation)
        return count


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "check_order": "free",
        "check_drops": "as_passed",
        "negative_delay": "as_zero",
        "features": [
            *("force", "cancel_for_key", "elapse", "script_watch"),
            *("script_check", "script_cancel_for_key", "script_force", "script_try"),
        ],
        "observables": ["entries"],
    },
    HashSetPurgatory,
    {
        LooksAtHalf: {"PURGATORY-NOT-LOST", "PURGATORY-CHECK-ORDER", "PURGATORY-CHECK-DROPS"},
        KeepsWhatItCompletes: {"PURGATORY-CHECK-DROPS"},
    },
)
