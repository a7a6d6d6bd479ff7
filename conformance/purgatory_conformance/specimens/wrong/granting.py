"""Memory pools that go wrong when they are made, asked, or looked at."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import (
    Buffer,
    SmallMemoryPool,
    SmallUnboundedPool,
)
from purgatory_conformance.specimens.small.specimen import Refusal


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is not smaller."""
    return 1 << (count - 1).bit_length()


@breaks("POOL-CONSTRUCT").by(SmallMemoryPool.check_sizes)
def largest_above_size(self: SmallMemoryPool, size: int, most: int) -> None:
    """A pool can be made whose largest buffer is larger than the pool."""
    if size < 1 or most < 1:
        raise Refusal


@breaks("POOL-CONSTRUCT").by(SmallMemoryPool.check_sizes)
def empty_pool(self: SmallMemoryPool, size: int, most: int) -> None:
    """A pool of no bytes can be made, and one of a negative size."""
    SmallMemoryPool.check_sizes(self, max(size, 1, most), most)
    if 0 < size < most:
        raise Refusal


@breaks("POOL-STRICT").by(SmallMemoryPool.is_enough)
def strict_ignores_size(self: SmallMemoryPool, asked: int) -> bool:
    """A strict pool grants while anything is left."""
    return self.available > 0


@breaks("POOL-STRICT").by(SmallMemoryPool.is_enough)
def strict_wants_more(self: SmallMemoryPool, asked: int) -> bool:
    """A strict pool keeps a byte for itself."""
    return self.available > asked if self.strict else SmallMemoryPool.is_enough(self, asked)


@breaks("POOL-NON-STRICT").by(SmallMemoryPool.is_enough)
def non_strict_wants_all(self: SmallMemoryPool, asked: int) -> bool:
    """A non-strict pool grants only what it has."""
    return self.available >= asked


@breaks("POOL-REFUSAL").by(SmallMemoryPool.refuse)
def refusal_debits(self: SmallMemoryPool, asked: int) -> None:
    """A refused request is debited all the same."""
    SmallMemoryPool.refuse(self, asked)
    self.available -= asked


@breaks("POOL-REFUSAL").by(SmallMemoryPool.refuse)
def refusal_throws(self: SmallMemoryPool, asked: int) -> None:
    """A request that cannot be granted is an error."""
    SmallMemoryPool.refuse(self, asked)
    raise Refusal


@breaks("POOL-ALLOCATION-FAILS").by(SmallMemoryPool.make_buffer)
def failure_credits(self: SmallMemoryPool, asked: int) -> Buffer:
    """An allocation that fails is credited, though nothing has been debited."""
    if self.fails:
        self.credit(asked)
    return SmallMemoryPool.make_buffer(self, asked)


@breaks("POOL-ALLOCATION-FAILS").by(SmallMemoryPool.make_buffer)
def failure_is_unforeseen(self: SmallMemoryPool, asked: int) -> Buffer:
    """An allocation that fails does so with an error that nobody foresees."""
    if self.fails:
        raise AttributeError
    return SmallMemoryPool.make_buffer(self, asked)


@breaks("POOL-EXACT-BUFFER").by(SmallMemoryPool.make_buffer)
def buffer_rounded_up(self: SmallMemoryPool, asked: int) -> Buffer:
    """A buffer is as large as the next power of two, and counted as asked for."""
    return Buffer(bytearray(_power_of_two(asked)))


@breaks("POOL-OWN-MEMORY").by(SmallMemoryPool.make_buffer)
def equal_sizes_share(self: SmallMemoryPool, asked: int) -> Buffer:
    """Buffers of the same size have the same memory."""
    alike = (buffer.memory for buffer in self.granted if buffer.capacity == asked)
    return Buffer(next(alike, bytearray(asked)))


@breaks("POOL-OWN-MEMORY").by(SmallMemoryPool.forget)
def release_clears_another(self: SmallMemoryPool, buffer: Buffer) -> None:
    """A release clears the first outstanding buffer, and not the released one."""
    SmallMemoryPool.forget(self, buffer)
    if self.granted:
        self.granted[0].memory[:] = bytes(self.granted[0].capacity)


@breaks("POOL-ZERO-REQUEST").by(SmallMemoryPool.check_request)
def zero_granted(self: SmallMemoryPool, asked: int) -> None:
    """A request for no bytes is granted."""
    if asked != 0:
        SmallMemoryPool.check_request(self, asked)


@breaks("POOL-ZERO-REQUEST").by(SmallMemoryPool.try_allocate)
def zero_refused(self: SmallMemoryPool, asked: int) -> Buffer | None:
    """A request for no bytes gets no buffer, and is no error."""
    return None if asked == 0 else SmallMemoryPool.try_allocate(self, asked)


@breaks("POOL-NEGATIVE-REQUEST").by(SmallMemoryPool.try_allocate)
def negative_credits(self: SmallMemoryPool, asked: int) -> Buffer | None:
    """A request for a negative size makes the pool larger."""
    if asked < 0:
        self.debit(asked)
        return None
    return SmallMemoryPool.try_allocate(self, asked)


@breaks("POOL-NEGATIVE-REQUEST").by(SmallMemoryPool.check_request)
def negative_changes(self: SmallMemoryPool, asked: int) -> None:
    """A request for a negative size is rejected, after it was debited."""
    if asked < 0:
        self.debit(asked)
    SmallMemoryPool.check_request(self, asked)


@breaks("POOL-OVERSIZE-REQUEST").by(SmallMemoryPool.try_allocate)
def oversize_refused(self: SmallMemoryPool, asked: int) -> Buffer | None:
    """A request for more than the largest buffer gets no buffer, and is no error."""
    return None if asked > self.most else SmallMemoryPool.try_allocate(self, asked)


@breaks("POOL-OVERSIZE-REQUEST").by(SmallMemoryPool.check_request)
def oversize_granted(self: SmallMemoryPool, asked: int) -> None:
    """A request for more than the largest buffer is granted where the pool has it."""
    if asked <= 0 or asked > self.size:
        raise Refusal


@breaks("POOL-OVERSIZE-REQUEST").by(SmallMemoryPool.check_request)
def largest_rejected(self: SmallMemoryPool, asked: int) -> None:
    """The largest buffer itself may not be asked for."""
    if self.most > 1 and asked == self.most:
        raise Refusal
    SmallMemoryPool.check_request(self, asked)


@breaks("POOL-CONSERVATION").by(SmallMemoryPool.debit)
def debit_rounded_up(self: SmallMemoryPool, count: int) -> None:
    """A grant is debited by the next power of two, and credited as asked for."""
    SmallMemoryPool.debit(self, _power_of_two(count))


@breaks("POOL-CONSERVATION").by(SmallMemoryPool.elapse)
def time_restores(self: SmallMemoryPool, to_ms: int) -> None:
    """All memory is available again as soon as time has passed."""
    SmallMemoryPool.elapse(self, to_ms)
    if self.now_ms > 0:
        self.available = self.size


@breaks("POOL-NON-STRICT").by(SmallMemoryPool.is_enough)
def admits_at_zero(self: SmallMemoryPool, asked: int) -> bool:
    """A non-strict pool grants once more when nothing is left."""
    return SmallMemoryPool.is_enough(self, asked) or (not self.strict and self.available == 0)


@breaks("POOL-OUT-OF-MEMORY").by(SmallMemoryPool.is_out_of_memory)
def out_of_memory_below_zero(self: SmallMemoryPool) -> bool:
    """The pool is out of memory only when more was granted than there is."""
    return self.available < 0


@breaks("POOL-OUT-OF-MEMORY").by(SmallMemoryPool.is_out_of_memory)
def out_of_memory_when_refusing(self: SmallMemoryPool) -> bool:
    """The pool is out of memory while a dry spell lasts."""
    return self.available <= 0 or self.dry_since_ms is not None


@breaks("POOL-USED").by(SmallMemoryPool.used)
def used_never_above_size(self: SmallMemoryPool) -> int:
    """The bytes in use are never shown as more than the size."""
    return min(SmallMemoryPool.used(self), self.size)


@breaks("POOL-SIZE").by(SmallMemoryPool.shown_size)
def size_is_what_is_left(self: SmallMemoryPool) -> int:
    """The size that is shown shrinks with what is granted."""
    return self.available


@breaks("POOL-SPELL-BEGINS").by(SmallMemoryPool.debit)
def begins_with_depletion(self: SmallMemoryPool, count: int) -> None:
    """A dry spell begins when nothing is left, asked or not."""
    SmallMemoryPool.debit(self, count)
    if self.available <= 0:
        self.dry_since_ms = self.now_ms


@breaks("POOL-SPELL-BEGINS").by(SmallMemoryPool.check_request)
def error_begins_spell(self: SmallMemoryPool, asked: int) -> None:
    """A request that is an error begins a dry spell."""
    if asked <= 0 or asked > self.most:
        self.refuse(asked)
    SmallMemoryPool.check_request(self, asked)


@breaks("POOL-SPELL-BEGINS").by(SmallMemoryPool.refuse)
def each_refusal_a_spell(self: SmallMemoryPool, asked: int) -> None:
    """Each refused request is a dry spell of its own."""
    self.end_spell()
    SmallMemoryPool.refuse(self, asked)


@breaks("POOL-DEPLETED-TIME").by(SmallMemoryPool.depleted_ms)
def spell_under_way_counts(self: SmallMemoryPool) -> int:
    """The dry spell that is under way counts already."""
    since = self.now_ms if self.dry_since_ms is None else self.dry_since_ms
    return SmallMemoryPool.depleted_ms(self) + self.now_ms - since


@breaks("POOL-DEPLETED-TIME").by(SmallMemoryPool.end_spell)
def last_spell_only(self: SmallMemoryPool) -> None:
    """The depleted time is that of the last dry spell."""
    if self.dry_since_ms is not None:
        self.dry_ms = 0
    SmallMemoryPool.end_spell(self)


@breaks("POOL-UNBOUNDED-GRANTS").by(SmallUnboundedPool.check_request)
def unbounded_rejects_nothing(self: SmallUnboundedPool, asked: int) -> None:
    """A request for no bytes is an error without a bound, too."""
    if asked <= 0:
        raise Refusal


@breaks("POOL-UNBOUNDED-GRANTS").by(SmallUnboundedPool.check_request)
def unbounded_keeps_largest(self: SmallUnboundedPool, asked: int) -> None:
    """A pool without a bound still has a largest buffer."""
    SmallUnboundedPool.check_request(self, asked)
    if asked > self.most:
        raise Refusal


@breaks("POOL-UNBOUNDED-GRANTS").by(SmallUnboundedPool.debit)
def unbounded_counts(self: SmallUnboundedPool, count: int) -> None:
    """A pool without a bound counts what is used."""
    self.available -= count


@breaks("POOL-UNBOUNDED-NEGATIVE")
class UnboundedTakesNegative(SmallUnboundedPool):
    """A pool without a bound answers a request for a negative size with an empty buffer."""

    def check_request(self, asked: int) -> None:
        """Check no request."""

    def make_buffer(self, asked: int) -> Buffer:
        return Buffer(bytearray(max(asked, 0)))


@breaks("POOL-UNBOUNDED-RELEASE").by(SmallUnboundedPool.release)
def unbounded_knows_its_own(self: SmallUnboundedPool, buffer: Buffer | None) -> None:
    """A pool without a bound rejects buffers that it has not granted, or has got back."""
    if buffer is None or not self.is_mine(buffer):
        raise Refusal
    self.forget(buffer)
