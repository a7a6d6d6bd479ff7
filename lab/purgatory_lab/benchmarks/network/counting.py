"""A counter of bytes that are out, kept outside of the pool; and a way of looking that spins."""

import socket
import threading
from typing import SupportsIndex

from purgatory_impl import MemoryPool
from purgatory_impl.network.readiness import READ, Readiness, system_readiness


class CountedPool:
    """Any pool, and beside it a count of the buffers that it has handed out and taken back.

    Attributes:
        out_bytes: What is out.
        most_bytes: The most that was out at a time.
    """

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self.out_bytes = 0
        self.most_bytes = 0

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        """Allocate from the pool, and count the bytes."""
        with self._lock:  # as one step: else the count lags behind a release
            buffer = self._pool.try_allocate(bytes_)
            if buffer is not None:
                self.out_bytes += buffer.nbytes
                self.most_bytes = max(self.most_bytes, self.out_bytes)
            return buffer

    def release(self, buffer: memoryview) -> None:
        """Release to the pool, and count the bytes."""
        with self._lock:
            size = buffer.nbytes
            self._pool.release(buffer)
            self.out_bytes -= size

    @property
    def size_bytes(self) -> int:
        """Return the size of the inner pool."""
        return self._pool.size_bytes

    @property
    def available_bytes(self) -> int:
        """Return the available bytes of the inner pool."""
        return self._pool.available_bytes

    @property
    def used_bytes(self) -> int:
        """Return the used bytes of the inner pool."""
        return self._pool.used_bytes

    @property
    def is_out_of_memory(self) -> bool:
        """Decide whether the inner pool is out of memory."""
        return self._pool.is_out_of_memory


class SpinningReadiness:
    """Never stops looking for bytes to read: a socket that is not read is ready in every poll.

    The control of the count of polls.
    """

    def __init__(self) -> None:
        self._inner: Readiness = system_readiness()

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Watch as the system's readiness does."""
        self._inner.watch(connection, interest)

    def change(self, connection: socket.socket, interest: int) -> None:
        """Change the interest, and always add bytes to read."""
        self._inner.change(connection, interest | READ)

    def forget(self, connection: socket.socket) -> None:
        """Forget as the system's readiness does."""
        self._inner.forget(connection)

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Wait as the system's readiness does."""
        return self._inner.wait(timeout_ms)

    def close(self) -> None:
        """Close as the system's readiness does."""
        self._inner.close()
