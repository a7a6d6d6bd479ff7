"""A purgatory with lists that are never changed: a new tuple takes the place of the old one."""

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import PURGATORY_FEATURES, Stranger
from .time_outs import CompletesOnce


class CopyOnWritePurgatory(CompletesOnce):
    """A check walks through the tuple that it found, and drops from it when it is through."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.lists: dict[str, tuple[Delayed, ...]] = {}

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        for key in keys:
            self.lists[key] = (*self.lists.get(key, ()), operation)
        self.time_outs.arm(operation)
        return self.second_try(operation)

    def second_try(self, operation: Delayed) -> bool:
        return self.attempt(operation)

    def check(self, key: str) -> int:
        found = self.lists.get(key, ())
        completed = [o for o in found if o not in self.done and self.attempt(o)]
        self.replace(key, tuple(o for o in self.lists.get(key, ()) if o not in self.done))
        return len(completed)

    def replace(self, key: str, operations: tuple[Delayed, ...]) -> None:
        self.lists[key] = operations
        if not operations:
            del self.lists[key]

    def cancel(self, key: str) -> list[str]:
        cancelled = self.lists.pop(key, ())
        watched = {operation for others in self.lists.values() for operation in others}
        for operation in cancelled:
            if operation not in watched:
                self.time_outs.disarm(operation)
        return [operation.name for operation in cancelled]

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        if sum(o in self.done for each in self.lists.values() for o in each) > self.purge_interval:
            self.purge()

    def purge(self) -> None:
        for key, operations in list(self.lists.items()):
            self.replace(key, tuple(o for o in operations if o not in self.done))

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class NoSecondTry(CopyOnWritePurgatory):
    """An event between the first try and the last list is missed."""

    def second_try(self, operation: Delayed) -> bool:
        return False


class PurgesHalf(CopyOnWritePurgatory):
    """A purge goes through every other list."""

    def purge(self) -> None:
        for key, operations in list(self.lists.items())[::2]:
            self.replace(key, tuple(o for o in operations if o not in self.done))


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "check_drops": "at_end",
        "negative_delay": "as_zero",
        "features": PURGATORY_FEATURES,
        "observables": ["entries"],
    },
    CopyOnWritePurgatory,
    {
        NoSecondTry: {"PURGATORY-WATCH-SECOND-TRY"},
        PurgesHalf: {"PURGATORY-PURGE-REMOVES", "PURGATORY-PURGE-START"},
    },
)
