"""A purgatory that keeps nothing completed: an operation leaves all its lists as it completes."""

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import PURGATORY_FEATURES, Stranger
from .time_outs import CompletesOnce


class EagerPurgatory(CompletesOnce):
    """Each operation knows the keys that it is watched under."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.lists: dict[str, list[Delayed]] = {}
        self.keys: dict[Delayed, list[str]] = {}

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if operation.can_complete():
            return self.force(operation)
        if operation in self.done:  # inside its own try
            return False
        self.time_outs.arm(operation)
        for key in keys:
            self.lists.setdefault(key, []).append(operation)
            self.keys.setdefault(operation, []).append(key)
        return operation.can_complete() and self.force(operation)

    def force(self, operation: Delayed) -> bool:
        if operation in self.done:
            return False
        self.leave(operation)
        return super().force(operation)

    def leave(self, operation: Delayed) -> None:
        for key in self.keys.pop(operation, []):
            self.lists[key].remove(operation)
            if not self.lists[key]:
                del self.lists[key]

    def check(self, key: str) -> int:
        count = 0
        for operation in tuple(self.lists.get(key, ())):
            if operation not in self.done and operation.can_complete():
                count += self.force(operation)
        return count

    def cancel(self, key: str) -> list[str]:
        cancelled = self.lists.pop(key, [])
        for operation in cancelled:
            self.keys[operation].remove(key)
            if not self.keys[operation]:
                self.lose(operation)
        return [operation.name for operation in cancelled]

    def lose(self, operation: Delayed) -> None:
        self.time_outs.disarm(operation)

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class LeavesOneList(EagerPurgatory):
    """An operation under several keys leaves the list of the first alone."""

    def leave(self, operation: Delayed) -> None:
        for key in self.keys.pop(operation, [])[:1]:
            self.lists[key].remove(operation)


class KeepsCancelledTimeOuts(EagerPurgatory):
    """Lets operations expire that nobody waits for any longer."""

    def lose(self, operation: Delayed) -> None:
        return


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "check_drops": "everywhere",
        "negative_delay": "as_zero",
        "features": PURGATORY_FEATURES,
        "observables": ["entries"],
    },
    EagerPurgatory,
    {
        LeavesOneList: {  # with an interval of 0, what is left is to be purged
            *("PURGATORY-ENTRIES", "PURGATORY-WATCH-SECOND-TRY", "PURGATORY-PURGE-START")
        },
        KeepsCancelledTimeOuts: {"PURGATORY-CANCEL-LAST-KEY"},
    },
)
