"""A strict pool that lends returned buffers again; no room and no memory are one answer."""

from collections import defaultdict

from purgatory_spec.profiles import Component

from ..design import Stranger


class ShelvingPool:
    """Returned buffers stand on shelves by their sizes, with what was written into them."""

    memory = bytearray

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.left, self.largest_bytes = size_bytes, largest_bytes
        self.shelves: defaultdict[int, list[bytearray]] = defaultdict(list)

    def ask(self, size_bytes: int) -> bytearray | None:
        if not 0 < size_bytes <= self.largest_bytes:
            raise ValueError(f"from 1 to {self.largest_bytes} bytes")
        if size_bytes > self.left:
            return None
        buffer = self.taken(size_bytes)
        if buffer is not None:
            self.left -= size_bytes
        return buffer

    def taken(self, size_bytes: int) -> bytearray | None:
        if self.shelves[size_bytes]:
            return self.shelves[size_bytes].pop()
        try:
            return self.memory(size_bytes)
        except MemoryError:
            return None

    def give_back(self, buffer: bytearray) -> None:
        self.left += len(buffer)
        self.shelves[len(buffer)].append(buffer)

    def free_bytes(self) -> int:
        return self.left


class LeavesItOnTheShelf(ShelvingPool):
    """A buffer that is lent again stays on its shelf."""

    def taken(self, size_bytes: int) -> bytearray | None:
        shelf = self.shelves[size_bytes]
        return shelf[-1] if shelf else super().taken(size_bytes)


class CountsWhatItHasNot(ShelvingPool):
    """A buffer for which there is no memory is subtracted."""

    def taken(self, size_bytes: int) -> bytearray | None:
        buffer = super().taken(size_bytes)
        if buffer is None:
            self.left -= size_bytes
        return buffer


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {"features": ["strict", "fail", "fill"], "observables": ["available_bytes"]},
    ShelvingPool,
    {
        LeavesItOnTheShelf: {"POOL-OWN-MEMORY"},
        CountsWhatItHasNot: {"POOL-ALLOCATION-FAILS"},
    },
)
