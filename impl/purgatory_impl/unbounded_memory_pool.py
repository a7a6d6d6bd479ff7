"""The memory pool that stands for having none."""

from typing import Final, SupportsIndex

from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.errors import InvalidAllocation
from purgatory_impl.memory_pool import new_buffer, whole_bytes

UNBOUNDED_BYTES: Final = 2**63 - 1
"""The size that a pool without a bound shows, bytes."""


@mypyc_attr(allow_interpreted_subclasses=True)
class UnboundedMemoryPool:
    """A pool without a bound: never refuses, never runs out, and takes every buffer back."""

    def __repr__(self) -> str:
        """Return the name of the class."""
        return f"<{type(self).__name__}>"

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview:
        """Return a writable buffer of exactly ``bytes_`` bytes, 0 among them.

        Raises:
            InvalidAllocation: the number is negative, or none.
            MemoryError: the interpreter has no memory.

        Rules: POOL-UNBOUNDED-GRANTS, POOL-UNBOUNDED-NEGATIVE.
        """
        wanted = whole_bytes(bytes_)
        if wanted < 0:
            raise InvalidAllocation(f"{wanted} bytes; a buffer has 0 at least")
        return new_buffer(wanted)

    def release(self, buffer: object) -> None:
        """Do nothing with the buffer: an unbounded pool counts nothing.

        Rules: POOL-UNBOUNDED-RELEASE.
        """

    @property
    def size_bytes(self) -> int:
        """Return ``UNBOUNDED_BYTES`` as the size."""
        return UNBOUNDED_BYTES

    @property
    def available_bytes(self) -> int:
        """Return ``UNBOUNDED_BYTES``, however much is out."""
        return UNBOUNDED_BYTES

    @property
    def used_bytes(self) -> int:
        """Return 0, however much is out.

        Rules: POOL-UNBOUNDED-GRANTS.
        """
        return 0

    @property
    def is_out_of_memory(self) -> bool:
        """Return false: an unbounded pool never runs out.

        Rules: POOL-UNBOUNDED-GRANTS.
        """
        return False
