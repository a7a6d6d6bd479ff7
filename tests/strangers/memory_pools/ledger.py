"""A strict pool that keeps a ledger of sizes and nothing else; a request for nothing is granted."""

from collections import Counter

from purgatory_spec.profiles import Component

from ..design import Stranger


class LedgerPool:
    """A pool that adds up anew each time what is left; no size is special."""

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.size_bytes, self.largest_bytes = size_bytes, largest_bytes
        self.ledger: Counter[int] = Counter()

    def ask(self, size_bytes: int) -> bytearray | None:
        if size_bytes not in range(self.largest_bytes + 1):
            raise ValueError(f"from 0 to {self.largest_bytes} bytes")
        if self.free_bytes() < size_bytes:
            return None
        buffer = bytearray(size_bytes)
        self.enter(size_bytes)
        return buffer

    def enter(self, size_bytes: int) -> None:
        self.ledger[size_bytes] += 1

    def give_back(self, buffer: bytearray) -> None:
        self.ledger[len(buffer)] -= 1

    def free_bytes(self) -> int:
        return self.size_bytes - sum(size * count for size, count in self.ledger.items())


class ChargesForNothing(LedgerPool):
    """An empty buffer is entered as one byte."""

    def enter(self, size_bytes: int) -> None:
        super().enter(max(1, size_bytes))


class RefusesNothingWhenFull(LedgerPool):
    """A request for nothing is refused where nothing is left, though the pool is strict."""

    def ask(self, size_bytes: int) -> bytearray | None:
        is_refused = size_bytes == 0 and self.free_bytes() <= 0
        return None if is_refused else super().ask(size_bytes)


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {"zero_request": "grant", "features": ["strict"], "observables": ["available_bytes"]},
    LedgerPool,
    {ChargesForNothing: {"POOL-ZERO-REQUEST"}, RefusesNothingWhenFull: {"POOL-ZERO-REQUEST"}},
)
