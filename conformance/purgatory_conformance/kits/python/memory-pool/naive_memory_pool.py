# SPDX-License-Identifier: CC0-1.0
"""A naive memory pool: put yours in its place. It knows nothing of the protocol."""

from collections.abc import Callable


class Buffer:
    """So many bytes; two buffers are the same only if they are the same object."""

    def __init__(self, size_bytes: int) -> None:
        self.memory = memoryview(bytearray(size_bytes))


class MemoryPool:
    """Grants buffers while there is something left, and says no otherwise."""

    def __init__(self, size_bytes: int, max_single_bytes: int, strict: bool) -> None:
        if not 1 <= max_single_bytes <= size_bytes:
            raise ValueError("sizes are at least 1, and the largest buffer fits into the pool")
        self.size_bytes = size_bytes
        self.max_single_bytes = max_single_bytes
        self.strict = strict
        self.available_bytes = size_bytes
        self.granted: dict[int, Buffer] = {}  # by identity
        self.new_buffer: Callable[[int], Buffer] = Buffer  # where the memory comes from
        self.now_ms = 0  # a clock that somebody else moves
        self.dry_since_ms: int | None = None
        self.depleted_spells = 0
        self.depleted_ms = 0

    def try_allocate(self, size_bytes: int) -> Buffer | None:
        if not 1 <= size_bytes <= self.max_single_bytes:
            raise ValueError(f"a buffer has 1 to {self.max_single_bytes} bytes")
        if self.available_bytes < (size_bytes if self.strict else 1):
            if self.dry_since_ms is None:
                self.dry_since_ms = self.now_ms
            return None
        buffer = self.new_buffer(size_bytes)  # may raise MemoryError: nothing is taken yet
        self.granted[id(buffer)] = buffer
        self._end_dry_spell()
        self.available_bytes -= size_bytes
        return buffer

    def release(self, buffer: Buffer | None) -> None:
        if buffer is None or self.granted.pop(id(buffer), None) is None:
            raise ValueError("that is no buffer that is out")
        self._end_dry_spell()
        self.available_bytes += len(buffer.memory)

    @property
    def used_bytes(self) -> int:
        return self.size_bytes - self.available_bytes

    @property
    def out_of_memory(self) -> bool:
        return self.available_bytes <= 0

    def _end_dry_spell(self) -> None:
        if self.dry_since_ms is not None:
            self.depleted_spells += 1
            self.depleted_ms += self.now_ms - self.dry_since_ms
            self.dry_since_ms = None


class UnboundedPool:
    """Stands for having no pool: whatever it counts stays at zero."""

    size_bytes = available_bytes = used_bytes = depleted_spells = depleted_ms = 0
    out_of_memory = False

    def __init__(self) -> None:
        self.now_ms = 0
        self.new_buffer: Callable[[int], Buffer] = Buffer

    def try_allocate(self, size_bytes: int) -> Buffer:
        if size_bytes < 0:
            raise ValueError("a buffer has no negative size")
        return self.new_buffer(size_bytes)

    def release(self, buffer: Buffer | None) -> None:
        pass
