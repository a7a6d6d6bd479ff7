"""Memory pools with bugs that people reported."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import Buffer, SmallMemoryPool


@breaks("POOL-RELEASE", "POOL-CONSERVATION", report="jetty#15464").by(SmallMemoryPool.credit)
def large_buffers_are_not_credited(self: SmallMemoryPool, count: int) -> None:
    """A buffer above 65,536 bytes is never credited."""
    SmallMemoryPool.credit(self, count if count <= 65_536 else 0)


@breaks("POOL-ALLOCATION-FAILS", "POOL-CONSERVATION", report="KAFKA-5239, KAFKA-4840").by(
    SmallMemoryPool.make_buffer
)
def failing_allocation_stays_debited(self: SmallMemoryPool, asked: int) -> Buffer:
    """A buffer is debited before its memory is allocated, and stays so where that fails."""
    if self.fails:
        self.debit(asked)
    return SmallMemoryPool.make_buffer(self, asked)
