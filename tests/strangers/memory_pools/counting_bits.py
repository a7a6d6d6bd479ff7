"""A strict pool that counts what is out by powers of two; a size of nothing has no highest bit."""

from purgatory_spec.profiles import Component

from ..design import Stranger


class CountingBitsPool:
    """For each power of two, the buffers whose size has that bit."""

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.size_bytes, self.largest_bytes = size_bytes, largest_bytes
        self.counts = [0] * size_bytes.bit_length()

    def ask(self, size_bytes: int) -> bytearray | None:
        assert size_bytes != 0, "the type of a size begins at one"
        if not 0 < size_bytes <= self.largest_bytes:
            raise ValueError(f"from 1 to {self.largest_bytes} bytes")
        if size_bytes > self.free_bytes():
            return None
        buffer = bytearray(size_bytes)
        self.count(size_bytes, 1)
        return buffer

    def count(self, size_bytes: int, by: int) -> None:
        for bit in range(size_bytes.bit_length()):
            if size_bytes >> bit & 1:
                self.counts[bit] += by

    def give_back(self, buffer: bytearray) -> None:
        self.count(len(buffer), -1)

    def free_bytes(self) -> int:
        return self.size_bytes - sum(count << bit for bit, count in enumerate(self.counts))


class ForgetsTheLowestBit(CountingBitsPool):
    """A buffer of an odd size is a byte too small when it is given back."""

    def give_back(self, buffer: bytearray) -> None:
        self.count(len(buffer) & ~1, -1)


class KeepsAByte(CountingBitsPool):
    """The last byte is never granted."""

    def ask(self, size_bytes: int) -> bytearray | None:
        is_last = size_bytes == self.free_bytes() and size_bytes <= self.largest_bytes
        return None if is_last else super().ask(size_bytes)


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {"zero_request": "not_offered", "features": ["strict"], "observables": ["available_bytes"]},
    CountingBitsPool,
    {ForgetsTheLowestBit: {"POOL-RELEASE"}, KeepsAByte: {"POOL-STRICT"}},
)
