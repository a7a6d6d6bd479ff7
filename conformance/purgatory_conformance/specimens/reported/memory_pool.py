"""Memory pools with bugs that people reported."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import SmallMemoryPool


@breaks("POOL-RELEASE", "POOL-CONSERVATION", report="jetty#15464").by(SmallMemoryPool.credit)
def large_buffers_are_not_credited(self: SmallMemoryPool, count: int) -> None:
    """A buffer above 65,536 bytes is never credited."""
    SmallMemoryPool.credit(self, count if count <= 65_536 else 0)
