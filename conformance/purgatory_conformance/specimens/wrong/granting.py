"""Memory pools that go wrong when they are made, asked, or looked at."""

from purgatory_conformance.specimens.small.memory_pool import (
    Buffer,
    Refusal,
    SmallMemoryPool,
    SmallUnboundedPool,
)


def _power_of_two(count: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << (count - 1).bit_length()


class LargestAboveSize(SmallMemoryPool):
    """A pool can be made whose largest buffer is larger than the pool."""

    @classmethod
    def check_sizes(cls, size: int, most: int) -> None:
        """Each size makes sense by itself."""
        if size < 1 or most < 1:
            raise Refusal


class EmptyPool(SmallMemoryPool):
    """A pool of no bytes can be made, and one of less than none."""

    @classmethod
    def check_sizes(cls, size: int, most: int) -> None:
        """The size is only looked at where it is positive."""
        super().check_sizes(max(size, 1, most), most)
        if 0 < size < most:
            raise Refusal


class StrictIgnoresSize(SmallMemoryPool):
    """A strict pool grants while anything is left."""

    def is_enough(self, asked: int) -> bool:
        """Admits like a non-strict one."""
        return self.available > 0


class StrictWantsMore(SmallMemoryPool):
    """A strict pool keeps a byte for itself."""

    def is_enough(self, asked: int) -> bool:
        """More than is asked for must be there."""
        return self.available > asked if self.strict else super().is_enough(asked)


class NonStrictWantsAll(SmallMemoryPool):
    """A non-strict pool grants only what it has."""

    def is_enough(self, asked: int) -> bool:
        """Admits like a strict one."""
        return self.available >= asked


class RefusalDebits(SmallMemoryPool):
    """A refused request is debited all the same."""

    def refuse(self, asked: int) -> None:
        """Counts first, and forgets to count back."""
        super().refuse(asked)
        self.available -= asked


class RefusalThrows(SmallMemoryPool):
    """A request that cannot be granted is an error."""

    def refuse(self, asked: int) -> None:
        """As allocators do that have no other way to say no."""
        super().refuse(asked)
        raise Refusal


class BufferRoundedUp(SmallMemoryPool):
    """A buffer is as large as the next power of two, and counted as asked for."""

    def make_buffer(self, asked: int) -> Buffer:
        """Rounds up to a class of sizes."""
        return Buffer(bytearray(_power_of_two(asked)))


class ZeroGranted(SmallMemoryPool):
    """A request for nothing is granted."""

    def check_request(self, asked: int) -> None:
        """Nothing can be had at any time."""
        if asked != 0:
            super().check_request(asked)


class ZeroRefused(SmallMemoryPool):
    """A request for nothing gets nothing, and is no error."""

    def try_allocate(self, asked: int) -> Buffer | None:
        """There is no buffer without a byte."""
        return None if asked == 0 else super().try_allocate(asked)


class NegativeCredits(SmallMemoryPool):
    """A request for less than nothing makes the pool larger."""

    def try_allocate(self, asked: int) -> Buffer | None:
        """Only looks whether it is too much."""
        if asked < 0:
            self.debit(asked)
            return None
        return super().try_allocate(asked)


class NegativeChanges(SmallMemoryPool):
    """A request for less than nothing is rejected, after it was debited."""

    def check_request(self, asked: int) -> None:
        """The error comes from making the buffer."""
        if asked < 0:
            self.debit(asked)
        super().check_request(asked)


class OversizeRefused(SmallMemoryPool):
    """A request for more than the largest buffer gets no buffer, and is no error."""

    def try_allocate(self, asked: int) -> Buffer | None:
        """It will never be granted, which the caller is not told."""
        return None if asked > self.most else super().try_allocate(asked)


class OversizeGranted(SmallMemoryPool):
    """A request for more than the largest buffer is granted where the pool has it."""

    def check_request(self, asked: int) -> None:
        """The pool's own size is the limit."""
        if asked <= 0 or asked > self.size:
            raise Refusal


class LargestRejected(SmallMemoryPool):
    """The largest buffer itself may not be asked for."""

    def check_request(self, asked: int) -> None:
        """Counts from zero."""
        if self.most > 1 and asked == self.most:
            raise Refusal
        super().check_request(asked)


class DebitRoundedUp(SmallMemoryPool):
    """A grant is debited by the next power of two, and credited as asked for."""

    def debit(self, count: int) -> None:
        """Counts what the allocator below takes."""
        super().debit(_power_of_two(count))


class TimeRestores(SmallMemoryPool):
    """With time the pool believes that everything has come back."""

    def elapse(self, to_ms: int) -> None:
        """Like a lease that runs out."""
        super().elapse(to_ms)
        if self.now_ms > 0:
            self.available = self.size


class AdmitsAtZero(SmallMemoryPool):
    """A non-strict pool grants once more when nothing is left."""

    def is_enough(self, asked: int) -> bool:
        """By the letter of the proposal: up to the size and a largest buffer."""
        return super().is_enough(asked) or (not self.strict and self.available == 0)


class OutOfMemoryBelowZero(SmallMemoryPool):
    """The pool is out of memory only when more was granted than there is."""

    def is_out_of_memory(self) -> bool:
        """Strictly less."""
        return self.available < 0


class OutOfMemoryWhenRefusing(SmallMemoryPool):
    """The pool is out of memory while a dry spell lasts."""

    def is_out_of_memory(self) -> bool:
        """Whoever was refused calls it so."""
        return self.available <= 0 or self.dry_since_ms is not None


class UsedNeverAboveSize(SmallMemoryPool):
    """What is used is shown as the size at most."""

    def used(self) -> int:
        """A share of more than the whole looked wrong."""
        return min(super().used(), self.size)


class SizeIsWhatIsLeft(SmallMemoryPool):
    """The size that is shown shrinks with what is granted."""

    def shown_size(self) -> int:
        """Shows the wrong field."""
        return self.available


class BeginsWithDepletion(SmallMemoryPool):
    """A dry spell begins when nothing is left, asked or not."""

    def debit(self, count: int) -> None:
        """Looks at once."""
        super().debit(count)
        if self.available <= 0:
            self.dry_since_ms = self.now_ms


class ErrorBeginsSpell(SmallMemoryPool):
    """A request that is an error begins a dry spell."""

    def check_request(self, asked: int) -> None:
        """Whoever gets no buffer was refused."""
        if asked <= 0 or asked > self.most:
            self.refuse(asked)
        super().check_request(asked)


class EachRefusalASpell(SmallMemoryPool):
    """Each refused request is a dry spell of its own."""

    def refuse(self, asked: int) -> None:
        """Ends the one before."""
        self.end_spell()
        super().refuse(asked)


class SpellUnderWayCounts(SmallMemoryPool):
    """The dry spell that is under way counts already."""

    def depleted_ms(self) -> int:
        """Up to now."""
        since = self.now_ms if self.dry_since_ms is None else self.dry_since_ms
        return super().depleted_ms() + self.now_ms - since


class LastSpellOnly(SmallMemoryPool):
    """The depleted time is that of the last dry spell."""

    def end_spell(self) -> None:
        """Forgets the time of earlier spells."""
        if self.dry_since_ms is not None:
            self.dry_ms = 0
        super().end_spell()


class UnboundedRejectsNothing(SmallUnboundedPool):
    """A request for nothing is an error without a bound, too."""

    def check_request(self, asked: int) -> None:
        """Checks like a bounded pool."""
        if asked <= 0:
            raise Refusal


class UnboundedKeepsLargest(SmallUnboundedPool):
    """A pool without a bound still has a largest buffer."""

    def check_request(self, asked: int) -> None:
        """The limit is left over."""
        super().check_request(asked)
        if asked > self.most:
            raise Refusal


class UnboundedCounts(SmallUnboundedPool):
    """A pool without a bound counts what is used."""

    def debit(self, count: int) -> None:
        """Counts."""
        self.available -= count


class UnboundedTakesNegative(SmallUnboundedPool):
    """A pool without a bound answers a request for less than nothing with an empty buffer."""

    def check_request(self, asked: int) -> None:
        """Checks nothing."""

    def make_buffer(self, asked: int) -> Buffer:
        """Empty, rather than an error."""
        return Buffer(bytearray(max(asked, 0)))


class UnboundedKnowsItsOwn(SmallUnboundedPool):
    """A pool without a bound rejects what it has not granted, or has got back."""

    def release(self, buffer: Buffer | None) -> None:
        """Looks, although it has no account."""
        if buffer is None or not self.is_mine(buffer):
            raise Refusal
        self.forget(buffer)
