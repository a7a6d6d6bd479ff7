"""Memory pools with bugs that people reported."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import Buffer, SmallMemoryPool
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile

_SLAB_BYTES = 2**20


@breaks("POOL-OWN-MEMORY", report="netty#11101")
class GrantedBuffersOverlap(SmallMemoryPool):
    """A buffer begins where the outstanding ones would end if nothing had been released."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        super().__init__(configuration, profile)
        self.slab = memoryview(bytearray(min(self.size, _SLAB_BYTES)))

    def make_buffer(self, asked: int) -> Buffer:
        """Cut the buffer out of the slab, as long as it fits."""
        buffer = super().make_buffer(asked)
        begin = self.size - self.available
        cut = self.slab[begin : begin + asked]
        return Buffer(cut) if len(cut) == asked else buffer


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
