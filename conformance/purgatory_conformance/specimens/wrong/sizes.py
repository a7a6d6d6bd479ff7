"""Memory pools that go wrong where sizes are large."""

from purgatory_conformance.specimens.small.memory_pool import (
    Buffer,
    Refusal,
    SmallMemoryPool,
    SmallUnboundedPool,
)
from purgatory_spec.profiles import LARGEST_INT

_MOST_IN_ALL = 5000


class SizeInAnInt(SmallMemoryPool):
    """The size is kept in 32 bits, and what does not fit is lost."""

    def shown_size(self) -> int:
        """The lower bits."""
        return self.size & (2**32 - 1)


class LargePoolsRejected(SmallMemoryPool):
    """A pool of more bytes than an int can say cannot be made."""

    @classmethod
    def check_sizes(cls, size: int, most: int) -> None:
        """As though its counts were ints."""
        super().check_sizes(size, most)
        if size > LARGEST_INT:
            raise Refusal


class RequestInAnInt(SmallMemoryPool):
    """Of a request only the lower 32 bits are looked at."""

    def try_allocate(self, asked: int) -> Buffer | None:
        """With their sign, and the buffer is as small as they say."""
        return super().try_allocate((asked + 2**31) % 2**32 - 2**31)


class UnboundedHasItsFill(SmallUnboundedPool):
    """A pool without a bound grants no buffer of some kilobytes."""

    def is_enough(self, asked: int) -> bool:
        """It has a bound after all."""
        return asked <= _MOST_IN_ALL
