"""A small memory pool behind the subject interface: the specimen that the suite is tried on.

It is written straight from the rules and shares nothing with the model or the implementation but
the types of the steps. Every decision is one short method, so that a pool with a single fault is a
subclass with a single override.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from mmap import mmap

import msgspec

from purgatory_conformance.specimens.small.specimen import Refusal, Specimen, known
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason

PROFILE = profiles.MemoryPoolProfile(
    release_validation=profiles.ReleaseValidation.IDENTITY,
    features=frozenset(profiles.MemoryPoolFeature),
    observables=frozenset(profiles.MemoryPoolObservable),
)
"""The profile of the small pool: all that the suite can ask for."""

NAIVE_PROFILE = msgspec.structs.replace(PROFILE, release_validation=profiles.ReleaseValidation.NONE)
"""The profile of a pool that credits every buffer given back, and may be given any buffer.

It breaks POOL-CONSERVATION, as Kafka's does.
"""


@dataclass(eq=False, slots=True)
class Buffer:
    """A view of some memory; two views of one memory are two buffers."""

    memory: bytearray | memoryview

    @property
    def capacity(self) -> int:
        """Return the capacity of the buffer in bytes."""
        return len(self.memory)


def _zeros(count: int) -> bytearray | memoryview:
    """Return so many zero bytes; many of them take no memory until they are written."""
    is_large = 2**20 <= count < 2**32
    return memoryview(mmap(-1, count)) if is_large else bytearray(count)


class SmallMemoryPool:
    """A pool with a clock."""

    def __init__(
        self, configuration: profiles.MemoryPoolConfiguration, profile: profiles.MemoryPoolProfile
    ) -> None:
        """Make a pool that has granted nothing."""
        self.size = configuration.size_bytes
        self.most = configuration.max_single_bytes
        self.strict = configuration.strict
        self.validates = profile.release_validation is profiles.ReleaseValidation.IDENTITY
        self.zero_request = profile.zero_request
        self.available = self.size
        self.granted: list[Buffer] = []
        self.now_ms = 0
        self.dry_since_ms: int | None = None
        self.spells = 0
        self.dry_ms = 0
        self.fails = False

    # Asking

    def try_allocate(self, asked: int) -> Buffer | None:
        """Return a buffer, or None; raises ``Refusal`` for an illegal size."""
        self.check_request(asked)
        if not self.is_enough(asked):
            self.refuse(asked)
            return None
        buffer = self.make_buffer(asked)
        self.granted.append(buffer)
        self.end_spell()
        self.debit(asked)
        return buffer

    def check_request(self, asked: int) -> None:
        """Raise ``Refusal`` for a size that may not be asked for."""
        is_legal = self.zero_request in (profiles.ZeroRequest.GRANT, profiles.ZeroRequest.REFUSE)
        if asked < 0 or asked > self.most or (asked == 0 and not is_legal):
            raise Refusal

    def is_enough(self, asked: int) -> bool:
        """Decide whether a legal request is granted."""
        if asked == 0 and self.zero_request is profiles.ZeroRequest.REFUSE:
            return False
        return self.available >= asked if self.strict else self.available > 0

    def refuse(self, asked: int) -> None:
        """Begin a dry spell with a legal request that cannot be granted."""
        if self.dry_since_ms is None:
            self.dry_since_ms = self.now_ms

    def make_buffer(self, asked: int) -> Buffer:
        """Return the buffer for a request that is granted; raises ``Refusal`` without memory."""
        if self.fails:
            raise Refusal(Reason.NO_MEMORY)
        return Buffer(_zeros(asked))

    def debit(self, count: int) -> None:
        """Take so many bytes out of the pool."""
        self.available -= count

    # Giving back

    def release(self, buffer: Buffer | None) -> None:
        """Take a buffer back; raises ``Refusal`` for what is not one."""
        if buffer is None:
            self.release_nothing()
            return
        if self.validates and not self.is_mine(buffer):
            self.turn_away(buffer)
        self.forget(buffer)
        self.credit(buffer.capacity)
        self.end_spell()

    def release_nothing(self) -> None:
        """Refuse a release without a buffer."""
        raise Refusal

    def is_mine(self, buffer: Buffer) -> bool:
        """Decide whether this very buffer is outstanding."""
        return buffer in self.granted

    def turn_away(self, buffer: Buffer) -> None:
        """Refuse a buffer that is not the pool's."""
        raise Refusal

    def forget(self, buffer: Buffer) -> None:
        """Forget a buffer that is outstanding no longer."""
        if buffer in self.granted:
            self.granted.remove(buffer)

    def credit(self, count: int) -> None:
        """Add bytes to the available ones."""
        self.available += count

    def collected(self, buffer: Buffer) -> None:
        """Credit a buffer that was lost without a release."""
        self.forget(buffer)
        self.credit(buffer.capacity)

    # Time

    def elapse(self, to_ms: int) -> None:
        """Set the clock's reading."""
        self.now_ms = to_ms

    def end_spell(self) -> None:
        """End the dry spell, if there is one."""
        if self.dry_since_ms is not None:
            self.spells += 1
            self.dry_ms += self.now_ms - self.dry_since_ms
            self.dry_since_ms = None

    # What is shown

    def used(self) -> int:
        """Return the bytes that are not available."""
        return self.size - self.available

    def shown_size(self) -> int:
        """Return the size that the pool was made with."""
        return self.size

    def is_out_of_memory(self) -> bool:
        """Decide whether nothing is left."""
        return self.available <= 0

    def depleted_ms(self) -> int:
        """Return how long the ended spells were, ms."""
        return self.dry_ms

    def check_sizes(self, size: int, most: int) -> None:
        """Raise ``Refusal`` for sizes that no pool can be made of."""
        if size < 1 or most < 1 or most > size:
            raise Refusal


class SmallUnboundedPool(SmallMemoryPool):
    """The pool that stands for having none."""

    def check_request(self, asked: int) -> None:
        """Refuse a size below zero."""
        if asked < 0:
            raise Refusal

    def is_enough(self, asked: int) -> bool:
        """Return true: there is always enough."""
        return True

    def debit(self, count: int) -> None:
        """Count nothing for an allocation."""

    def release(self, buffer: Buffer | None) -> None:
        """Count nothing for a release."""

    def collected(self, buffer: Buffer) -> None:
        """Count nothing for a lost buffer."""

    def shown_size(self) -> int:
        """Return the largest safe integer as the size."""
        return profiles.LARGEST_SAFE_INTEGER


MakePool = Callable[[profiles.MemoryPoolConfiguration, profiles.MemoryPoolProfile], SmallMemoryPool]


class SmallPoolInstance(Specimen):
    """Put a small pool behind the step vocabulary, with the holders of its buffers."""

    def __init__(self, pool: SmallMemoryPool, profile: profiles.MemoryPoolProfile) -> None:
        """Begin without any holder of a buffer."""
        super().__init__(profile)
        self._pool = pool
        self._holders: dict[str, Buffer] = {}
        self._returned: set[str] = set()
        self._granted: Buffer | None = None

    def perform(self, operation: op.Operation) -> Value:
        """Return whether a request was granted, and nothing for other operations."""
        pool = self._pool
        self._granted = None
        match operation:
            case op.Allocate(name, size_bytes, fail):
                pool.fails = fail
                self._granted = pool.try_allocate(size_bytes)
                if self._granted is not None:
                    self._holders[name] = self._granted
                return self._granted is not None
            case op.Release(name, form):
                pool.release(_in_form(known(self._holders, name), form))
                if form is op.ReleaseForm.ITSELF:
                    self._returned.add(name)
            case op.ReleaseForeign(size_bytes):
                pool.release(Buffer(bytearray(size_bytes)))
            case op.ReleaseNothing():
                pool.release(None)
            case op.Lose(name):
                if name in self._returned:
                    raise Refusal(Reason.UNKNOWN_NAME)
                buffer = known(self._holders, name)
                del self._holders[name]
                pool.collected(buffer)
            case op.Fill(name, value):
                buffer = known(self._holders, name)
                buffer.memory[:] = bytes([value]) * buffer.capacity
            case op.Read(name):
                seen = bytes(known(self._holders, name).memory)
                return seen[0] if seen and seen.count(seen[0]) == len(seen) else -1
            case op.Construct(size_bytes, max_single_bytes):
                pool.check_sizes(size_bytes, max_single_bytes)
            case op.Elapse(to_ms):
                pool.elapse(to_ms)
            case _:
                raise Refusal(Reason.UNSUPPORTED)
        return None

    def show(self) -> Mapping[StrEnum, Value]:
        """Return the values of all observables."""
        pool = self._pool
        return {
            profiles.MemoryPoolObservable.AVAILABLE: pool.available,
            profiles.MemoryPoolObservable.USED: pool.used(),
            profiles.MemoryPoolObservable.SIZE: pool.shown_size(),
            profiles.MemoryPoolObservable.OUT_OF_MEMORY: pool.is_out_of_memory(),
            profiles.MemoryPoolObservable.BUFFER: None
            if self._granted is None
            else self._granted.capacity,
            profiles.MemoryPoolObservable.DEPLETED_SPELLS: pool.spells,
            profiles.MemoryPoolObservable.DEPLETED_TIME: pool.depleted_ms(),
        }


def _in_form(buffer: Buffer, form: op.ReleaseForm) -> Buffer:
    if form is op.ReleaseForm.SLICE:
        return Buffer(buffer.memory)
    if form is op.ReleaseForm.COPY:
        return Buffer(bytearray(buffer.memory))
    return buffer


def small_pool_subject(
    bounded: MakePool = SmallMemoryPool,
    unbounded: MakePool = SmallUnboundedPool,
    profile: profiles.MemoryPoolProfile = PROFILE,
    *,
    behaves: profiles.MemoryPoolProfile | None = None,
    name: str = "small memory pool",
) -> InProcessSubject:
    """Return small pools, right or wrong, as a subject in process.

    Args:
        bounded: Makes a pool with a bound.
        unbounded: Makes a pool without.
        profile: What the subject declares.
        behaves: The profile that the pools follow; ``profile`` if None.
        name: The subject's name in reports.
    """

    def make(configuration: profiles.Configuration) -> SmallPoolInstance:
        assert isinstance(configuration, profiles.MemoryPoolConfiguration)
        make_pool = unbounded if configuration.unbounded else bounded
        return SmallPoolInstance(make_pool(configuration, behaves or profile), profile)

    implementation = Implementation(name=name, language="Python")
    return InProcessSubject(implementation, {profiles.Component.MEMORY_POOL: profile}, make)
