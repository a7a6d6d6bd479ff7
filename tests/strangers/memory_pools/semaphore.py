"""A strict pool on a counting semaphore of bytes, with buffers told apart by identity."""

import threading

from purgatory_spec.profiles import Component

from ..design import Stranger


class Permits:
    """A counting semaphore that gives several permits at once, or none."""

    def __init__(self, permits: int) -> None:
        self.lock, self.permits = threading.Lock(), permits

    def try_acquire(self, permits: int) -> bool:
        with self.lock:
            if self.permits < permits:
                return False
            self.permits -= permits
            return True

    def release(self, permits: int) -> None:
        with self.lock:
            self.permits += permits


class SemaphorePool:
    """A request takes as many permits as it has bytes, or none."""

    memory = bytearray

    def __init__(self, size_bytes: int, largest_bytes: int) -> None:
        self.semaphore, self.largest_bytes = Permits(size_bytes), largest_bytes
        self.granted: dict[int, bytearray] = {}

    def ask(self, size_bytes: int) -> bytearray | None:
        if not 0 < size_bytes <= self.largest_bytes:
            raise ValueError(f"from 1 to {self.largest_bytes} bytes")
        if not self.semaphore.try_acquire(size_bytes):
            self.refuse(size_bytes)
            return None
        try:
            buffer = self.memory(size_bytes)
        except MemoryError:
            self.semaphore.release(size_bytes)
            raise
        self.granted[id(buffer)] = buffer
        return buffer

    def refuse(self, size_bytes: int) -> None:
        """Nothing was taken."""

    def give_back(self, buffer: bytearray) -> None:
        if self.granted.pop(id(buffer), None) is None:
            raise ValueError("not a buffer of this pool, or given back before")
        self.semaphore.release(len(buffer))

    def free_bytes(self) -> int:
        return self.semaphore.permits


class KeepsWhatIsLeft(SemaphorePool):
    """A refused request keeps a permit."""

    def refuse(self, size_bytes: int) -> None:
        self.semaphore.try_acquire(1)


class KeepsWhatItCannotGrant(SemaphorePool):
    """The permits of a request for which there is no memory are kept."""

    def ask(self, size_bytes: int) -> bytearray | None:
        try:
            return super().ask(size_bytes)
        except MemoryError:
            self.semaphore.try_acquire(size_bytes)
            raise


class GivesBackTwice(SemaphorePool):
    """A buffer may be given back as often as its holder likes."""

    def give_back(self, buffer: bytearray) -> None:
        self.semaphore.release(len(buffer))


STRANGER = Stranger(
    Component.MEMORY_POOL,
    {
        "release_validation": "identity",
        "features": ["strict", "release_again", "release_foreign", "fail", "fill"],
        "observables": ["available_bytes"],
    },
    SemaphorePool,
    {
        KeepsWhatIsLeft: {"POOL-REFUSAL"},
        KeepsWhatItCannotGrant: {"POOL-ALLOCATION-FAILS"},
        GivesBackTwice: {"POOL-RELEASE-AGAIN", "POOL-RELEASE-FOREIGN"},
    },
)
