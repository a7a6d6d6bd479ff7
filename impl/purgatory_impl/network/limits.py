"""Bounds of requests and responses: bytes, sizes, times, number."""

from dataclasses import dataclass

from purgatory_impl.errors import InvalidConfiguration
from purgatory_impl.memory_pool import MemoryPool, SimpleMemoryPool
from purgatory_impl.unbounded_memory_pool import UnboundedMemoryPool


@dataclass(frozen=True, slots=True)
class NetworkLimits:
    """Bounds of a network thread or a server, checked when they are made.

    Attributes:
        limit_bytes: The bytes of all requests that are being received or handled; 0 and less is no
            bound. The buffers together may exceed it by one request less a byte.
        max_request_bytes: The largest request. A connection that announces a larger one is closed.
        idle_limit_ms: After how long a connection is closed that neither sends nor waits nor has a
            request being handled, ms; 0 is never.
        receive_limit_ms: Within which time a request must be complete once it has its memory, ms;
            0 is any. Otherwise a client that sends a byte from time to time keeps the memory.
        queued_requests: How many requests may wait for a handler.
        unread_response_bytes: The bytes of all responses that sockets have not taken whole; 0 and
            less is no bound. A response that would exceed it has other connections closed, with the
            reason ``unread``: those whose peers have taken nothing for the longest time. A response
            that is larger than the bound is sent if it is the only one.

    Raises:
        InvalidConfiguration: a bound is impossible, or ``limit_bytes`` is below the largest
            request, which could then never be received.

    Source: KIP-72, validation of ``queued.max.request.bytes``.
    """

    limit_bytes: int = -1
    max_request_bytes: int = 100 * 1024 * 1024
    idle_limit_ms: int = 600_000
    receive_limit_ms: int = 0
    queued_requests: int = 500
    unread_response_bytes: int = 100 * 1024 * 1024

    def __post_init__(self) -> None:
        """Check each bound, and the two sizes together.

        Rules: MUTING-CONFIG.
        """
        if not 1 <= self.max_request_bytes < 2**31:
            raise InvalidConfiguration(
                f"max_request_bytes is {self.max_request_bytes}; a size has 1 to 2147483647"
            )
        if 0 < self.limit_bytes < self.max_request_bytes:
            raise InvalidConfiguration(
                f"limit_bytes is {self.limit_bytes}; a request may have {self.max_request_bytes} "
                "bytes. Raise the limit to that, or set -1 for none"
            )
        for name in ("idle_limit_ms", "receive_limit_ms"):
            if getattr(self, name) < 0:
                raise InvalidConfiguration(f"{name} is negative; 0 stands for no limit")
        if self.queued_requests < 1:
            raise InvalidConfiguration(
                f"queued_requests is {self.queued_requests}; it must be at least 1"
            )

    def memory_pool(self) -> MemoryPool:
        """Return a pool of ``limit_bytes``; an unbounded pool where there is no limit."""
        if self.limit_bytes <= 0:
            return UnboundedMemoryPool()
        return SimpleMemoryPool(self.limit_bytes, self.max_request_bytes)
