"""Memory pools that go wrong where sizes are large."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import (
    Buffer,
    SmallMemoryPool,
    SmallUnboundedPool,
)
from purgatory_conformance.specimens.small.specimen import Refusal
from purgatory_spec.profiles import LARGEST_INT

_MOST_IN_ALL = 5000


@breaks("POOL-SIZE").by(SmallMemoryPool.shown_size)
def size_in_an_int(self: SmallMemoryPool) -> int:
    """The size is kept in 32 bits, and what does not fit is lost."""
    return self.size & (2**32 - 1)


@breaks("POOL-CONSTRUCT").by(SmallMemoryPool.check_sizes)
def large_pools_rejected(self: SmallMemoryPool, size: int, most: int) -> None:
    """A pool of more bytes than an int can say cannot be made."""
    SmallMemoryPool.check_sizes(self, size, most)
    if size > LARGEST_INT:
        raise Refusal


@breaks("POOL-OVERSIZE-REQUEST", "POOL-NEGATIVE-REQUEST").by(SmallMemoryPool.try_allocate)
def request_in_an_int(self: SmallMemoryPool, asked: int) -> Buffer | None:
    """A request counts by its lower 32 bits alone."""
    return SmallMemoryPool.try_allocate(self, (asked + 2**31) % 2**32 - 2**31)


@breaks("POOL-UNBOUNDED-GRANTS").by(SmallUnboundedPool.is_enough)
def unbounded_has_its_fill(self: SmallUnboundedPool, asked: int) -> bool:
    """A pool without a bound refuses buffers of more than 5,000 bytes."""
    return asked <= _MOST_IN_ALL
