"""A purgatory that is a journal: rows are appended, and it is written anew when much is garbage."""

from purgatory_spec.profiles import Component

from ..adapters import Delayed
from ..design import Stranger
from .time_outs import CompletesOnce


class JournalPurgatory(CompletesOnce):
    """Each row is a key and who waits under it; a row of somebody completed is garbage."""

    # To write the journal anew costs as much as it has rows. So it waits until there is more
    # garbage than half of the rest, and more than is worth the trouble.

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        super().__init__(purge_interval, tick_ms, now_ms)
        self.journal: list[tuple[str, Delayed]] = []

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        if operation in self.done:
            return False
        if self.attempt(operation):
            return True
        self.journal.extend((key, operation) for key in keys)
        self.time_outs.arm(operation)
        return self.attempt(operation)

    def check(self, key: str) -> int:
        count = 0
        for row in [row for row in self.journal if row[0] == key]:
            if row[1] not in self.done:
                count += self.attempt(row[1])
            if row[1] in self.done:
                self.journal.remove(row)
        return count

    def cancel(self, key: str) -> list[str]:
        cancelled = [operation for other, operation in self.journal if other == key]
        self.journal = [row for row in self.journal if row[0] != key]
        waiting = {operation for _, operation in self.journal}
        for operation in cancelled:
            if operation not in waiting:
                self.time_outs.disarm(operation)
        return [operation.name for operation in cancelled]

    def advance(self) -> None:
        self.time_outs.run_one_by_one(self.expire)
        rest = [row for row in self.journal if row[1] not in self.done]
        garbage = len(self.journal) - len(rest)
        if garbage > self.purge_interval and self.is_worn(garbage, len(rest)):
            self.journal = rest

    def is_worn(self, garbage: int, rest: int) -> bool:
        return 2 * garbage > rest

    def entries(self) -> int:
        return len(self.journal)


class WaitsForAsMuch(JournalPurgatory):
    """The journal is written anew when more of it is garbage than not."""

    def is_worn(self, garbage: int, rest: int) -> bool:
        return garbage > rest


class NeverWrittenAnew(JournalPurgatory):
    """The journal only grows, but for what checks remove."""

    def is_worn(self, garbage: int, rest: int) -> bool:
        return False


STRANGER = Stranger(
    Component.PURGATORY,
    {
        "accounting": "exact",
        "purge_due": "amortised",
        "check_drops": "as_passed",
        "negative_delay": "as_zero",
        "features": ["force", "cancel_for_key", "rewatch", "elapse", "script_force"],
        "observables": ["entries"],
    },
    JournalPurgatory,
    {NeverWrittenAnew: {"PURGATORY-PURGE-START"}, WaitsForAsMuch: {"PURGATORY-PURGE-START"}},
)
