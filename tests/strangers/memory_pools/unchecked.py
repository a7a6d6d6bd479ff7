"""A pool that counts bytes and knows no buffer: it trusts whoever gives one back."""

from purgatory_spec.profiles import Component

from ..design import Stranger


class UncheckedPool:
    """Grants while anything is left."""

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.left, self.largest_bytes = size_bytes, largest_bytes

    def ask(self, size_bytes: int) -> bytearray | None:
        if not 1 <= size_bytes <= self.largest_bytes:
            raise ValueError(f"from 1 to {self.largest_bytes} bytes")
        if not self.is_enough(size_bytes):
            return None
        buffer = bytearray(size_bytes)
        self.left -= size_bytes
        return buffer

    def is_enough(self, size_bytes: int) -> bool:
        return self.left > 0

    def give_back(self, buffer: bytearray) -> None:
        self.left += len(buffer)

    def free_bytes(self) -> int:
        return self.left


class GrantsWhatItHas(UncheckedPool):
    """Starves large requests, though it is not strict."""

    def is_enough(self, size_bytes: int) -> bool:
        return self.left >= size_bytes


class LosesAByte(UncheckedPool):
    """Every release leaks."""

    def give_back(self, buffer: bytearray) -> None:
        self.left += len(buffer) - 1


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {"features": ["non_strict"], "observables": ["available_bytes"]},
    UncheckedPool,
    {GrantsWhatItHas: {"POOL-NON-STRICT"}, LosesAByte: {"POOL-RELEASE"}},
)
