"""A memory pool that notices buffers which their holders have lost without a release."""

import logging
from collections import deque
from typing import Final, SupportsIndex

from purgatory_impl.clocks import Clock
from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.memory_pool import SimpleMemoryPool

_LOGGER: Final = logging.getLogger("purgatory")


@mypyc_attr(allow_interpreted_subclasses=True)
class LeakDetectingMemoryPool(SimpleMemoryPool):
    """A pool that takes back buffers whose holders have lost them without a release.

    A lost buffer is credited the next time that the pool is asked for anything, logged as an error
    (logger ``purgatory``) and counted. It is lost when the object that ``try_allocate`` returned
    is gone; so keep that object, and not only a slice of it. That ends no dry spell.

    Rules: POOL-LEAK.
    """

    def __init__(
        self,
        size_bytes: SupportsIndex,
        max_single_bytes: SupportsIndex,
        *,
        strict: bool = False,
        clock: Clock | None = None,
        window_ms: int = 30_000,
    ) -> None:
        """Build the pool, as ``SimpleMemoryPool`` does."""
        super().__init__(
            size_bytes, max_single_bytes, strict=strict, clock=clock, window_ms=window_ms
        )
        self._leaked = 0
        # Filled by the collector, which may run at any moment: appending needs no lock.
        self._lost_bytes: deque[int] = deque()

    @property
    def leaked(self) -> int:
        """Return the number of buffers that were lost so far."""
        self._credit_lost()
        with self._lock:
            return self._leaked

    def _lost(self, identity: int) -> None:
        lent = self._lent.pop(identity, None)
        if lent is not None:
            self._lost_bytes.append(lent[1])

    def _credit_lost(self) -> None:
        while self._lost_bytes:
            with self._lock:
                # Another thread may have been quicker.
                lost = self._lost_bytes.popleft() if self._lost_bytes else 0
                self._available += lost
                self._leaked += int(lost > 0)
            if lost:
                _LOGGER.error("A buffer of %d bytes was lost without a release", lost)
