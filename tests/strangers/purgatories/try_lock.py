"""A purgatory that never waits for an operation: who cannot lock it leaves word for the holder."""

import threading

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import Stranger
from .time_outs import CompletesOnce


class Tried:
    """A lock that is not re-entrant, and whether somebody came while it was held."""

    def __init__(self) -> None:
        self.lock, self.asked = threading.Lock(), False


class TryLockPurgatory(CompletesOnce):
    """The holder of an operation tries it again where somebody has come meanwhile."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.lists: dict[str, list[Delayed]] = {}
        self.tried: dict[Delayed, Tried] = {}

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
                done = operation not in self.done and self.try_once(operation)
        finally:
            mine.lock.release()
        return done

    def try_once(self, operation: Delayed) -> bool:
        return super().attempt(operation)

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if self.attempt(operation):
            return True
        if operation in self.done:
            return False
        for key in keys:
            self.lists.setdefault(key, []).append(operation)
        self.time_outs.arm(operation)
        done = self.attempt(operation)
        if operation in self.done:
            self.time_outs.disarm(operation)
        return done

    def check(self, key: str) -> int:
        met = list(self.lists.get(key, ()))
        count = sum(each not in self.done and self.attempt(each) for each in met)
        left = [each for each in self.lists.pop(key, ()) if each not in self.done]
        if left:
            self.lists[key] = left
        return count

    def cancel(self, key: str) -> list[str]:
        raise NotImplementedError("nothing can be cancelled here")

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        stale = sum(each in self.done for waiting in self.lists.values() for each in waiting)
        if stale > self.purge_interval:
            for key, waiting in list(self.lists.items()):
                self.lists[key] = [each for each in waiting if each not in self.done]

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class LosesTheWord(TryLockPurgatory):
    """Gives up an attempt where another thread has the operation's lock (KAFKA-6653)."""

    def attempt(self, operation: Delayed) -> bool:
        mine = self.lock_of(operation)
        if not mine.lock.acquire(blocking=False):
            return False
        try:
            return operation not in self.done and self.try_once(operation)
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
        "features": [
            *("force", "elapse", "script_check", "script_try"),
            *("script_meanwhile", "script_crosswise"),
        ],
        "observables": ["entries"],
    },
    TryLockPurgatory,
    {
        LosesTheWord: {"PURGATORY-MEANWHILE", "PURGATORY-TRY-INSIDE"},
        SharesOneLock: {"PURGATORY-MEANWHILE", "PURGATORY-CHECK-INSIDE", "PURGATORY-TRY-INSIDE"},
    },
)
