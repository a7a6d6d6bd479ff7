"""Memory pools with bugs that people reported."""

from functools import cached_property

import msgspec

from purgatory_conformance.specimens.mutant import Kind, breaks
from purgatory_conformance.specimens.small.memory_pool import PROFILE, Buffer, SmallMemoryPool
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ZeroRequest

ZERO_PROFILE = msgspec.structs.replace(PROFILE, zero_request=ZeroRequest.GRANT)
"""The profile of a pool that grants buffers without bytes."""

_SLAB_BYTES = 2**20


@breaks("POOL-OWN-MEMORY", report="netty#11101", kind=Kind.OBSERVABLE)
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


@breaks("POOL-RELEASE", "POOL-CONSERVATION", report="jetty#15464", kind=Kind.SIZES).by(
    SmallMemoryPool.credit
)
def large_buffers_are_not_credited(self: SmallMemoryPool, count: int) -> None:
    """A buffer above 65,536 bytes is never credited."""
    SmallMemoryPool.credit(self, count if count <= 65_536 else 0)


@breaks("POOL-REFUSAL", report="KAFKA-20578", kind=Kind.HISTORIES).by(SmallMemoryPool.refuse)
def refunds_a_part_twice(self: SmallMemoryPool, asked: int) -> None:
    """A refused request has gathered what there was, and gives it back twice."""
    SmallMemoryPool.refuse(self, asked)
    self.credit(max(0, self.available))


@breaks("POOL-RELEASE-AGAIN", report="turms#786", kind=Kind.HISTORIES)
class StaleHandle(SmallMemoryPool):
    """A second release frees another buffer, to which the memory has gone since."""

    def turn_away(self, buffer: Buffer) -> None:
        heirs = [each for each in self.granted if each.capacity == buffer.capacity]
        if not heirs or buffer not in self.released:
            super().turn_away(buffer)
        self.granted.remove(heirs[0])

    def forget(self, buffer: Buffer) -> None:
        super().forget(buffer)
        self.released.add(buffer)

    @cached_property
    def released(self) -> set[Buffer]:
        return set()


@breaks("POOL-BOUND", "POOL-NON-STRICT", report="velox#10335", kind=Kind.ARITHMETIC).by(
    SmallMemoryPool.is_enough
)
def below_zero_is_much(self: SmallMemoryPool, asked: int) -> bool:
    """The count of available bytes is unsigned, and very large below zero."""
    if self.strict or not asked:
        return SmallMemoryPool.is_enough(self, asked)
    return self.available != 0


@breaks(
    "POOL-ALLOCATION-FAILS",
    "POOL-CONSERVATION",
    report="KAFKA-5239, KAFKA-4840",
    kind=Kind.OPERATION,
).by(SmallMemoryPool.make_buffer)
def failing_allocation_stays_debited(self: SmallMemoryPool, asked: int) -> Buffer:
    """A buffer is debited before its memory is allocated, and stays so where that fails."""
    if self.fails:
        self.debit(asked)
    return SmallMemoryPool.make_buffer(self, asked)


@breaks("POOL-RELEASE", "POOL-CONSERVATION", report="KAFKA-3651", kind=Kind.HISTORIES)
class RefusedStaysInLine(SmallMemoryPool):
    """A request that was refused stays in a line, and takes memory that comes back."""

    @cached_property
    def line(self) -> list[int]:
        return []

    def refuse(self, asked: int) -> None:
        super().refuse(asked)
        self.line.append(asked)

    def credit(self, count: int) -> None:
        super().credit(count)
        if self.line and self.available >= self.line[0]:
            self.debit(self.line.pop(0))


@breaks("POOL-RELEASE", profile=ZERO_PROFILE, report="arrow-go#1132", kind=Kind.SIZES)
class EmptyBuffersAreOne(SmallMemoryPool):
    """All buffers without bytes are one object, which is outstanding once."""

    @cached_property
    def empty(self) -> Buffer:
        return Buffer(bytearray())

    def make_buffer(self, asked: int) -> Buffer:
        return super().make_buffer(asked) if asked else self.empty

    def forget(self, buffer: Buffer) -> None:
        self.granted = [each for each in self.granted if each is not buffer]
