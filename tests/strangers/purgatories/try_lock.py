"""A purgatory that never waits for an operation: who cannot lock it leaves word for the holder."""

import threading

from purgatory_spec.profiles import Component

from ..adapters import Delayed, PurgatoryInstance
from ..design import Stranger
from .time_outs import TimeOuts


class Tried:
    """A lock that is not re-entrant, and whether somebody came while it was held."""

    def __init__(self) -> None:
        self.lock, self.asked = threading.Lock(), False


class TryLockPurgatory:
    """The holder of an operation tries it again where somebody has come meanwhile."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        self.purge_interval = purge_interval
        self.lists: dict[str, list[Delayed]] = {}
        self.tried: dict[Delayed, Tried] = {}
        self.completed: set[Delayed] = set()
        self.time_outs = TimeOuts(tick_ms, now_ms)

    def lock_of(self, operation: Delayed) -> Tried:
        return self.tried.setdefault(operation, Tried())

    def attempt(self, operation: Delayed) -> bool:
        mine = self.lock_of(operation)
        if not mine.lock.acquire(blocking=False):
            mine.asked = True
            return False
        done = again = False
        try:
            while not done and (again := not again or mine.asked):
                mine.asked = False
                done = operation not in self.completed and self.try_once(operation)
        finally:
            mine.lock.release()
        return done

    def try_once(self, operation: Delayed) -> bool:
        return operation.can_complete() and self.force(operation)

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if not keys:
            raise ValueError("at least one key")
        if self.attempt(operation):
            return True
        if operation in self.completed:
            return False
        for key in keys:
            self.lists.setdefault(key, []).append(operation)
        self.time_outs.arm(operation)
        done = self.attempt(operation)
        if operation in self.completed:
            self.time_outs.disarm(operation)
        return done

    def force(self, operation: Delayed) -> bool:
        if operation in self.completed:
            return False
        self.completed.add(operation)
        self.time_outs.disarm(operation)
        operation.on_complete()
        return True

    def check(self, key: str) -> int:
        met = list(self.lists.get(key, ()))
        count = sum(each not in self.completed and self.attempt(each) for each in met)
        left = [each for each in self.lists.pop(key, ()) if each not in self.completed]
        if left:
            self.lists[key] = left
        return count

    def cancel(self, key: str) -> list[str]:
        raise NotImplementedError("nothing can be cancelled here")

    def elapse(self, now_ms: int) -> None:
        self.time_outs.now_ms = now_ms

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        stale = sum(each in self.completed for waiting in self.lists.values() for each in waiting)
        if stale > self.purge_interval:
            for key, waiting in list(self.lists.items()):
                self.lists[key] = [each for each in waiting if each not in self.completed]

    def expire(self, operation: Delayed) -> None:
        if self.force(operation):
            operation.on_expiration()

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class LosesTheWord(TryLockPurgatory):
    """Who cannot lock an operation goes away (KAFKA-6653)."""

    def attempt(self, operation: Delayed) -> bool:
        mine = self.lock_of(operation)
        if not mine.lock.acquire(blocking=False):
            return False
        try:
            return operation not in self.completed and self.try_once(operation)
        finally:
            mine.lock.release()


class SharesOneLock(TryLockPurgatory):
    """The word is left for one operation, and the lock is held for another (KAFKA-8334)."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.shared = threading.Lock()

    def lock_of(self, operation: Delayed) -> Tried:
        mine = super().lock_of(operation)
        mine.lock = self.shared
        return mine


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "check_drops": "at_end",
        "negative_delay": "as_zero",
        "features": ["force", "elapse", "script_check", "script_try", "script_meanwhile"],
        "observables": ["entries"],
    },
    TryLockPurgatory,
    lambda design, asked: PurgatoryInstance(
        design(asked.purge_interval, asked.tick_ms, asked.start_ms)
    ),
    {
        LosesTheWord: {"PURGATORY-MEANWHILE", "PURGATORY-TRY-INSIDE"},
        SharesOneLock: {"PURGATORY-MEANWHILE", "PURGATORY-CHECK-INSIDE", "PURGATORY-TRY-INSIDE"},
    },
)
