# SPDX-License-Identifier: CC0-1.0
"""The pool behind the protocol: each step becomes a call. Change names until it calls yours."""

from case import Case, Json, UnknownName, Unsupported
from naive_memory_pool import Buffer, MemoryPool, UnboundedPool


def no_memory(size_bytes: int) -> Buffer:
    """Stand in for the allocator where it is to fail."""
    raise MemoryError(f"no memory for {size_bytes} bytes")


class MemoryPoolCase(Case):
    """A memory pool, and the buffers that it granted."""

    PROFILE = {
        "release_validation": "identity",
        "features": [
            *("strict", "non_strict", "unbounded", "construct", "release_again", "release_slice"),
            *("release_copy", "release_foreign", "release_nothing", "elapse", "fail", "fill"),
        ],
        "observables": [
            *("available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes"),
            *("depleted_spells", "depleted_ms"),
        ],
    }
    REASONS = {ValueError: "invalid_argument", MemoryError: "no_memory"}

    def __init__(self, configuration: Json) -> None:
        super().__init__(configuration)
        self.pool: MemoryPool | UnboundedPool = UnboundedPool()
        if not configuration.get("unbounded"):
            self.pool = MemoryPool(
                configuration.get("size_bytes", 100),
                configuration.get("max_single_bytes", 40),
                configuration.get("strict", False),
            )
        self.buffers: dict[str, Buffer] = {}
        self.buffer_bytes: int | None = None  # what this step was granted

    def call(self, kind: str, asked: Json) -> object:
        self.buffer_bytes = None
        match kind:
            case "allocate":
                self.pool.new_buffer = no_memory if asked.get("fail") else Buffer
                buffer = self.pool.try_allocate(asked["size_bytes"])
                if buffer is not None:
                    self.buffers[asked["buffer"]] = buffer
                    self.buffer_bytes = len(buffer.memory)
                return buffer is not None
            case "release":
                buffer = self.named(asked)
                if asked.get("form", "itself") == "itself":
                    self.pool.release(buffer)
                else:  # another view of the memory, or other memory: another object for this pool
                    other = Buffer(len(buffer.memory))
                    if asked["form"] == "slice":
                        other.memory = buffer.memory[:]
                    self.pool.release(other)
            case "release_foreign":
                self.pool.release(Buffer(asked["size_bytes"]))
            case "release_nothing":
                self.pool.release(None)
            case "fill":
                memory = self.named(asked).memory
                memory[:] = bytes([asked["value"]]) * len(memory)
            case "read":  # the byte that is everywhere, or -1
                seen = set(self.named(asked).memory)
                return seen.pop() if len(seen) == 1 else -1
            case "construct":
                MemoryPool(asked["size_bytes"], asked["max_single_bytes"], strict=False)
            case "elapse":
                self.pool.now_ms = asked["to_ms"]
            case _:
                raise Unsupported
        return None

    def named(self, asked: Json) -> Buffer:
        if asked["buffer"] not in self.buffers:
            raise UnknownName(asked["buffer"])
        return self.buffers[asked["buffer"]]

    def observed(self) -> Json:
        pool = self.pool
        return {
            "available_bytes": pool.available_bytes,
            "used_bytes": pool.used_bytes,
            "size_bytes": pool.size_bytes,
            "out_of_memory": pool.out_of_memory,
            "buffer_bytes": self.buffer_bytes,
            "depleted_spells": pool.depleted_spells,
            "depleted_ms": pool.depleted_ms,
        }
