"""A pool that counts what it has lent, and by identity to whom; nobody is lent nothing."""

from purgatory_spec.profiles import Component

from ..design import Stranger


class LendingPool:
    """Lends while it has not lent all of its bytes."""

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.size_bytes, self.largest_bytes = size_bytes, largest_bytes
        self.lent_bytes = 0
        self.lent: dict[int, bytearray] = {}

    def ask(self, size_bytes: int) -> bytearray | None:
        if size_bytes < 0 or size_bytes > self.largest_bytes:
            raise ValueError(f"at most {self.largest_bytes} bytes, and not less than none")
        if not self.is_lent(size_bytes):
            return None
        buffer = bytearray(size_bytes)
        self.lent[id(buffer)] = buffer
        self.lent_bytes += size_bytes
        return buffer

    def is_lent(self, size_bytes: int) -> bool:
        return size_bytes > 0 and self.lent_bytes < self.size_bytes

    def give_back(self, buffer: bytearray) -> None:
        if self.lent.pop(id(buffer), None) is None:
            raise ValueError("this buffer was not lent")
        self.lent_bytes -= len(buffer)

    def free_bytes(self) -> int:
        return self.size_bytes - self.lent_bytes


class LendsNothing(LendingPool):
    """An empty buffer is lent as any other."""

    def is_lent(self, size_bytes: int) -> bool:
        return self.lent_bytes < self.size_bytes


class LendsOnceMore(LendingPool):
    """One more buffer is lent when all of the bytes are lent."""

    def is_lent(self, size_bytes: int) -> bool:
        return size_bytes > 0 and self.lent_bytes <= self.size_bytes


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {
        "release_validation": "identity",
        "zero_request": "refuse",
        "features": ["non_strict", "release_again", "release_foreign"],
        "observables": ["available_bytes"],
    },
    LendingPool,
    {LendsNothing: {"POOL-ZERO-REQUEST"}, LendsOnceMore: {"POOL-NON-STRICT"}},
)
