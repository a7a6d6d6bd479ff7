"""A strict pool on a counting semaphore of bytes, which is what most languages have at hand."""

import threading

from purgatory_spec.profiles import Component

from ..adapters import MemoryPoolInstance
from ..design import Stranger


class SemaphorePool:
    """A request takes as many permits as it has bytes, or none."""

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.permits, self.largest_bytes = threading.Semaphore(size_bytes), largest_bytes
        self.granted: dict[int, bytearray] = {}

    def ask(self, size_bytes: int) -> bytearray | None:
        if not 0 < size_bytes <= self.largest_bytes:
            raise ValueError(f"from 1 to {self.largest_bytes} bytes")
        taken = 0
        while taken < size_bytes and self.permits.acquire(blocking=False):
            taken += 1
        if taken < size_bytes:
            self.refuse(taken)
            return None
        buffer = bytearray(size_bytes)
        self.granted[id(buffer)] = buffer
        return buffer

    def refuse(self, taken: int) -> None:
        self.put_back(taken)

    def put_back(self, taken: int) -> None:
        if taken:
            self.permits.release(taken)

    def give_back(self, buffer: bytearray) -> None:
        if self.granted.pop(id(buffer), None) is None:
            raise ValueError("not a buffer of this pool, or given back before")
        self.permits.release(len(buffer))

    def free_bytes(self) -> int:
        taken = 0
        while self.permits.acquire(blocking=False):
            taken += 1
        self.put_back(taken)
        return taken


class KeepsWhatItTook(SemaphorePool):
    """A refused request keeps the permits that it had got."""

    def refuse(self, taken: int) -> None:
        self.put_back(taken // 2)


class GivesBackTwice(SemaphorePool):
    """A buffer may be given back as often as its holder likes."""

    def give_back(self, buffer: bytearray) -> None:
        self.permits.release(len(buffer))


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {
        "release_validation": "identity",
        "features": ["strict", "release_again", "release_foreign"],
        "observables": ["available_bytes"],
    },
    SemaphorePool,
    lambda design, asked: MemoryPoolInstance(design(asked.size_bytes, asked.max_single_bytes)),
    {
        KeepsWhatItTook: {"POOL-REFUSAL"},
        GivesBackTwice: {"POOL-RELEASE-AGAIN"},
    },
)
