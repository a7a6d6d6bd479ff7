"""A purgatory that is one table: a watch enters its rows, and only then tries, once."""

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import PURGATORY_FEATURES, Stranger
from .time_outs import CompletesOnce


class OneTablePurgatory(CompletesOnce):
    """Keep rows of a key and an operation; a check or sweep deletes what is completed."""

    # Whoever makes an operation possible after its rows are there finds it by them, and whoever did
    # so before has made the one try succeed: nothing is missed.

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.rows: list[tuple[str, Delayed]] = []

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        self.enter(operation, keys)
        return self.attempt(operation)

    def enter(self, operation: Delayed, keys: tuple[str, ...]) -> None:
        self.time_outs.arm(operation)
        self.rows += [(key, operation) for key in keys]

    def check(self, key: str) -> int:
        found = [operation for other, operation in self.rows if other == key]
        count = sum(each not in self.done and self.attempt(each) for each in found)
        self.rows = [row for row in self.rows if row[0] != key or row[1] not in self.done]
        return count

    def cancel(self, key: str) -> list[str]:
        cancelled = [operation for other, operation in self.rows if other == key]
        self.rows = [row for row in self.rows if row[0] != key]
        for operation in cancelled:
            if all(operation is not other for _, other in self.rows):
                self.time_outs.disarm(operation)
        return [operation.name for operation in cancelled]

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        if sum(operation in self.done for _, operation in self.rows) > self.purge_interval:
            self.rows = [row for row in self.rows if row[1] not in self.done]

    def entries(self) -> int:
        return len(self.rows)


class TriesBeforeItsRows(OneTablePurgatory):
    """The one try comes before the rows: an event between the two is missed."""

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        if operation not in self.done:
            self.enter(operation, keys)
        return False


class ArmsAfterTheTry(OneTablePurgatory):
    """An operation whose try throws has its rows, and no time-out."""

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        done = super().watch(operation, keys)
        if operation not in self.done:
            self.time_outs.arm(operation)
        return done

    def enter(self, operation: Delayed, keys: tuple[str, ...]) -> None:
        self.rows += [(key, operation) for key in keys]


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "first_try": "none",
        "check_drops": "at_end",
        "negative_delay": "as_zero",
        "features": PURGATORY_FEATURES,
        "observables": ["entries"],
    },
    OneTablePurgatory,
    {
        TriesBeforeItsRows: {"PURGATORY-WATCH-SECOND-TRY", "PURGATORY-SECOND-TRY-THROWS"},
        ArmsAfterTheTry: {"PURGATORY-SECOND-TRY-THROWS"},
    },
)
