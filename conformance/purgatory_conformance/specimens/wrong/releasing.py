"""Memory pools that go wrong when a buffer comes back, or something that looks like one."""

from purgatory_conformance.specimens.small.memory_pool import Buffer, Refusal, SmallMemoryPool
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile


class ReleaseForgets(SmallMemoryPool):
    """A released buffer is not credited."""

    def release(self, buffer: Buffer | None) -> None:
        """Takes it back and no more."""
        before = self.available
        super().release(buffer)
        self.available = before


class FirstByteStays(SmallMemoryPool):
    """A released buffer is credited but for a byte, if it has several."""

    def release(self, buffer: Buffer | None) -> None:
        """Credits what the reader has left of it."""
        super().release(buffer)
        if buffer is not None and buffer.capacity > 1:
            self.available -= 1


class LastBufferStays(SmallMemoryPool):
    """Only the buffer that was granted last can be released."""

    def is_mine(self, buffer: Buffer) -> bool:
        """Like a stack."""
        return super().is_mine(buffer) and buffer is self.granted[-1]


class _RemembersReturned(SmallMemoryPool):
    """Knows the buffers that were given back."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        """Nothing was given back."""
        super().__init__(configuration, profile)
        self.returned: list[Buffer] = []

    def forget(self, buffer: Buffer) -> None:
        """It is given back."""
        super().forget(buffer)
        self.returned.append(buffer)


class ReleaseTwice(_RemembersReturned):
    """A buffer that was granted once can be released for ever."""

    def is_mine(self, buffer: Buffer) -> bool:
        """Asks whether it was ever mine."""
        return super().is_mine(buffer) or buffer in self.returned


class AgainIsIgnored(_RemembersReturned):
    """A second release is no error; nothing comes of it."""

    def release(self, buffer: Buffer | None) -> None:
        """Looks whether there is anything to do."""
        if buffer is None or buffer not in self.returned:
            super().release(buffer)


class SliceIsTaken(SmallMemoryPool):
    """Any view of the memory of a buffer can be released for it."""

    def is_mine(self, buffer: Buffer) -> bool:
        """Asks for the memory, not for the buffer."""
        return any(buffer.memory is mine.memory for mine in self.granted)


class SliceFreesBuffer(SmallMemoryPool):
    """A slice is rejected; the buffer itself is then not known any longer."""

    def turn_away(self, buffer: Buffer) -> None:
        """Looked up by memory, and taken out before the comparison."""
        self.granted = [mine for mine in self.granted if mine.memory is not buffer.memory]
        super().turn_away(buffer)


class EqualIsTaken(SmallMemoryPool):
    """A buffer of the same size as one of the pool's, with memory of its own, is taken for it."""

    def is_mine(self, buffer: Buffer) -> bool:
        """Compares sizes, but knows a slice."""
        sizes = [mine.capacity for mine in self.granted]
        is_slice = any(buffer.memory is mine.memory for mine in self.granted)
        return super().is_mine(buffer) or (buffer.capacity in sizes and not is_slice)


class ForeignIsTaken(SmallMemoryPool):
    """A buffer of a size that was never granted is taken, and credited."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        """No size was granted."""
        super().__init__(configuration, profile)
        self.sizes: set[int] = set()

    def make_buffer(self, asked: int) -> Buffer:
        """Notes the size."""
        self.sizes.add(asked)
        return super().make_buffer(asked)

    def is_mine(self, buffer: Buffer) -> bool:
        """Recognises a foreign buffer only by a size granted before."""
        return super().is_mine(buffer) or buffer.capacity not in self.sizes


class ForeignIsCredited(SmallMemoryPool):
    """A foreign buffer is rejected, after it was credited."""

    def release(self, buffer: Buffer | None) -> None:
        """Credits, then looks; only for what has never been seen."""
        if buffer is not None and not self.granted and not self.ever_granted:
            self.credit(buffer.capacity)
        super().release(buffer)

    def make_buffer(self, asked: int) -> Buffer:
        """Something has been seen."""
        self.ever_granted = True
        return super().make_buffer(asked)

    ever_granted = False


class NothingIsReleased(SmallMemoryPool):
    """Releasing no buffer does nothing."""

    def release_nothing(self) -> None:
        """Like closing a file twice."""


class LeakIsLost(SmallMemoryPool):
    """A buffer that its holder loses stays outstanding for ever."""

    def collected(self, buffer: Buffer) -> None:
        """Nobody tells the pool."""


class EndsWithMemory(SmallMemoryPool):
    """A dry spell ends only when something is available again."""

    def end_spell(self) -> None:
        """Looks first."""
        if self.available > 0:
            super().end_spell()


class EndsWithGrant(SmallMemoryPool):
    """A dry spell ends with the next grant alone."""

    def release(self, buffer: Buffer | None) -> None:
        """The spell goes on."""
        since = self.dry_since_ms
        self.dry_since_ms = None
        try:
            super().release(buffer)
        finally:
            self.dry_since_ms = since


class RejectionEndsSpell(SmallMemoryPool):
    """A release that is rejected ends the dry spell."""

    def turn_away(self, buffer: Buffer) -> None:
        """It was a release."""
        self.end_spell()
        raise Refusal
