"""What the future of a shared memory pool depends on: its count, and where each thread is."""

from dataclasses import dataclass
from enum import Enum


class At(Enum):
    """Where a thread is: between calls, with or without a buffer, or inside a call."""

    IDLE = "idle"
    REJECT = "reject"
    READ = "read"
    SWAP = "swap"
    REFUSE = "refuse"
    HOLDS = "holds"
    DISOWN = "disown"


@dataclass(frozen=True, slots=True)
class PoolThread:
    """A thread, what it knows, and what is noted about it.

    Attributes:
        at: Where it is.
        request_bytes: What it asks for; 0 outside a request.
        seen_bytes: What it has read of the count; 0 outside a request.
        held_bytes: The size of its buffer; 0 for none.
        spent_bytes: The size of a buffer that it has given back and will give back again.
        credited: How often its latest buffer was credited.
        enough: Whether there was enough for its latest request from when it asked until it was
            decided; true after a request that came to nothing.
    """

    at: At = At.IDLE
    request_bytes: int = 0
    seen_bytes: int = 0
    held_bytes: int = 0
    spent_bytes: int = 0
    credited: int = 0
    enough: bool = True

    @property
    def is_inside(self) -> bool:
        """Whether it is inside a call."""
        return self.at not in (At.IDLE, At.HOLDS)

    @property
    def is_deciding(self) -> bool:
        """Whether its request is neither granted nor refused yet."""
        return self.at in (At.READ, At.SWAP)


@dataclass(frozen=True, slots=True)
class ConcurrentPoolState:
    """The shared count, and the threads by name."""

    available_bytes: int
    threads: tuple[tuple[str, PoolThread], ...]

    @property
    def outstanding_bytes(self) -> int:
        """The bytes of all buffers that threads have."""
        return sum(thread.held_bytes for _, thread in self.threads)

    @property
    def inside(self) -> frozenset[str]:
        """The threads that are inside a call."""
        return frozenset(name for name, thread in self.threads if thread.is_inside)

    def thread(self, name: str) -> PoolThread:
        """The thread of this name."""
        return dict(self.threads)[name]

    def with_thread(self, name: str, changed: PoolThread) -> "ConcurrentPoolState":
        """This state with a thread changed."""
        threads = tuple(
            (each, changed if each == name else thread) for each, thread in self.threads
        )
        return ConcurrentPoolState(self.available_bytes, threads)
