"""A purgatory whose check drops, when it is through, whatever is completed by then."""

from collections import defaultdict

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import PURGATORY_FEATURES, Stranger
from .time_outs import CompletesOnce


class DropAtEndPurgatory(CompletesOnce):
    """Sweeps all lists in every advance, so that nothing completed is left after one."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.lists: dict[str, list[Delayed]] = defaultdict(list)

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        for key in keys:
            self.lists[key].append(operation)
        self.time_outs.arm(operation)
        return self.attempt(operation)

    def check(self, key: str) -> int:
        count = 0
        for operation in list(self.lists[key]):
            if operation not in self.done:
                count += self.attempt(operation)
        self.drop(key)
        return count

    def drop(self, key: str) -> None:
        self.sweep(key)

    def sweep(self, key: str) -> None:
        self.lists[key] = [each for each in self.lists[key] if each not in self.done]

    def cancel(self, key: str) -> list[str]:
        cancelled = self.lists.pop(key, [])
        for operation in cancelled:
            if not any(operation in others for others in self.lists.values()):
                self.time_outs.disarm(operation)
        return [operation.name for operation in cancelled]

    def advance(self) -> None:
        self.time_outs.run_together(self.expire)
        for key in list(self.lists):
            self.sweep(key)

    def entries(self) -> int:
        return sum(map(len, self.lists.values()))


class DropsWhatWaits(DropAtEndPurgatory):
    """A check empties the list."""

    def drop(self, key: str) -> None:
        self.lists[key] = []


class CountsTheCompleted(DropAtEndPurgatory):
    """A check's result is what it dropped."""

    def check(self, key: str) -> int:
        before = len(self.lists[key])
        super().check(key)
        return before - len(self.lists[key])


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "any",
        "check_drops": "at_end",
        "negative_delay": "as_zero",
        "features": PURGATORY_FEATURES,
        "observables": ["entries"],
    },
    DropAtEndPurgatory,
    {DropsWhatWaits: {"PURGATORY-CHECK-DROPS"}, CountsTheCompleted: {"PURGATORY-CHECK-COUNT"}},
)
