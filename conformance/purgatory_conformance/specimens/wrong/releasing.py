"""Memory pools that go wrong when a buffer comes back, or something that looks like one."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.memory_pool import Buffer, SmallMemoryPool
from purgatory_conformance.specimens.small.specimen import Refusal
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile


@breaks("POOL-RELEASE").by(SmallMemoryPool.release)
def release_forgets(self: SmallMemoryPool, buffer: Buffer | None) -> None:
    """A released buffer is not credited."""
    before = self.available
    SmallMemoryPool.release(self, buffer)
    self.available = before


@breaks("POOL-RELEASE").by(SmallMemoryPool.release)
def first_byte_stays(self: SmallMemoryPool, buffer: Buffer | None) -> None:
    """A released buffer is credited but for a byte, if it has several."""
    SmallMemoryPool.release(self, buffer)
    if buffer is not None and buffer.capacity > 1:
        self.available -= 1


@breaks("POOL-RELEASE").by(SmallMemoryPool.is_mine)
def last_buffer_stays(self: SmallMemoryPool, buffer: Buffer) -> bool:
    """Only the buffer that was granted last can be released."""
    return SmallMemoryPool.is_mine(self, buffer) and buffer is self.granted[-1]


class _RemembersReturned(SmallMemoryPool):
    """Knows the buffers that were given back."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        super().__init__(configuration, profile)
        self.returned: list[Buffer] = []

    def forget(self, buffer: Buffer) -> None:
        super().forget(buffer)
        self.returned.append(buffer)


@breaks("POOL-RELEASE-AGAIN").by(SmallMemoryPool.is_mine)
def release_twice(self: _RemembersReturned, buffer: Buffer) -> bool:
    """A buffer that was granted once can be released for ever."""
    return _RemembersReturned.is_mine(self, buffer) or buffer in self.returned


@breaks("POOL-RELEASE-AGAIN").by(SmallMemoryPool.release)
def again_is_ignored(self: _RemembersReturned, buffer: Buffer | None) -> None:
    """A second release is no error; nothing comes of it."""
    if buffer is None or buffer not in self.returned:
        _RemembersReturned.release(self, buffer)


@breaks("POOL-RELEASE-SLICE").by(SmallMemoryPool.is_mine)
def slice_is_taken(self: SmallMemoryPool, buffer: Buffer) -> bool:
    """Any view of the memory of a buffer can be released for it."""
    return any(buffer.memory is mine.memory for mine in self.granted)


@breaks("POOL-RELEASE-SLICE").by(SmallMemoryPool.turn_away)
def slice_frees_buffer(self: SmallMemoryPool, buffer: Buffer) -> None:
    """A slice is rejected; the buffer itself is then not known any longer."""
    self.granted = [mine for mine in self.granted if mine.memory is not buffer.memory]
    SmallMemoryPool.turn_away(self, buffer)


@breaks("POOL-RELEASE-COPY", "POOL-RELEASE-FOREIGN")
class EqualIsTaken(SmallMemoryPool):
    """A buffer of the same size as one of the pool's, with other memory, is taken for it."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        super().__init__(configuration, profile)
        self.made: list[Buffer] = []

    def make_buffer(self, asked: int) -> Buffer:
        """Remember the buffer for ever."""
        self.made.append(super().make_buffer(asked))
        return self.made[-1]

    def is_mine(self, buffer: Buffer) -> bool:
        """Compare the sizes, unless the memory was the pool's."""
        is_known = any(buffer.memory is made.memory for made in self.made)
        sizes = [mine.capacity for mine in self.granted]
        return super().is_mine(buffer) or (buffer.capacity in sizes and not is_known)


@breaks("POOL-RELEASE-FOREIGN")
class ForeignIsTaken(SmallMemoryPool):
    """A buffer of a size that was never granted is taken, and credited."""

    def __init__(self, configuration: MemoryPoolConfiguration, profile: MemoryPoolProfile) -> None:
        super().__init__(configuration, profile)
        self.sizes: set[int] = set()

    def make_buffer(self, asked: int) -> Buffer:
        self.sizes.add(asked)
        return super().make_buffer(asked)

    def is_mine(self, buffer: Buffer) -> bool:
        return super().is_mine(buffer) or buffer.capacity not in self.sizes


@breaks("POOL-RELEASE-FOREIGN")
class ForeignIsCredited(SmallMemoryPool):
    """A foreign buffer is rejected, after it was credited."""

    def release(self, buffer: Buffer | None) -> None:
        if buffer is not None and not self.granted and not self.ever_granted:
            self.credit(buffer.capacity)
        super().release(buffer)

    def make_buffer(self, asked: int) -> Buffer:
        self.ever_granted = True
        return super().make_buffer(asked)

    ever_granted = False


@breaks("POOL-RELEASE-NOTHING").by(SmallMemoryPool.release_nothing)
def nothing_is_released(self: SmallMemoryPool) -> None:
    """Releasing no buffer does nothing."""


@breaks("POOL-LEAK").by(SmallMemoryPool.collected)
def leak_is_lost(self: SmallMemoryPool, buffer: Buffer) -> None:
    """A buffer that its holder loses stays outstanding for ever."""


@breaks("POOL-SPELL-ENDS").by(SmallMemoryPool.end_spell)
def ends_with_memory(self: SmallMemoryPool) -> None:
    """A dry spell ends only when something is available again."""
    if self.available > 0:
        SmallMemoryPool.end_spell(self)


@breaks("POOL-SPELL-ENDS").by(SmallMemoryPool.release)
def ends_with_grant(self: SmallMemoryPool, buffer: Buffer | None) -> None:
    """A dry spell ends with a grant only, and not with a release."""
    since = self.dry_since_ms
    self.dry_since_ms = None
    try:
        SmallMemoryPool.release(self, buffer)
    finally:
        self.dry_since_ms = since


@breaks("POOL-SPELL-ENDS").by(SmallMemoryPool.turn_away)
def rejection_ends_spell(self: SmallMemoryPool, buffer: Buffer) -> None:
    """A release that is rejected ends the dry spell."""
    self.end_spell()
    raise Refusal
