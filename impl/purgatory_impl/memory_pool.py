"""Memory pools: buffers of a bounded number of bytes, refused and not waited for.

A buffer is a ``memoryview`` over a ``bytearray`` of exactly the size that was asked for. A pool
accounts and does not recycle. Whoever is refused asks again after somebody has released.

A pool that is not strict grants as long as a byte is available, so that large requests do not
starve behind small ones. It may lend ``size_bytes + max_single_bytes - 1`` bytes in all.

A lent buffer is known by identity, by the very object that was returned, since sizes prove nothing.
The pool remembers it by a weak reference and so keeps no buffer alive. On release it ends the view:
to use it afterwards is a ``ValueError``. Slices of the buffer stay usable, which the pool cannot
prevent; their memory is never lent again.

One lock guards the counts. Buffers are made outside of it. The lock is not re-entrant, so a pool
must not be used from a signal handler or a ``__del__``.
"""

import sys
import threading
import weakref
from operator import index
from typing import NoReturn, Protocol, SupportsIndex

from purgatory_impl.arguments import configured
from purgatory_impl.clocks import Clock, MonotonicClock
from purgatory_impl.compiler import mypyc_attr
from purgatory_impl.depletion import DrySpells
from purgatory_impl.errors import (
    BufferInUse,
    BufferPart,
    BufferReleased,
    ForeignBuffer,
    InvalidAllocation,
    InvalidConfiguration,
    InvalidRelease,
    NotABuffer,
    refuse_copy,
    refuse_second_init,
)
from purgatory_impl.exclusion import SectionLock, pure, refused_after_fork
from purgatory_impl.task import COMPILED


class MemoryPool(Protocol):
    """A source of buffers, which takes them back."""

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        """Return a writable buffer of exactly ``bytes_`` bytes, or None where the pool has none.

        Raises:
            InvalidAllocation: no buffer of this size can ever be given.
        """

    def release(self, buffer: memoryview) -> None:
        """Give a buffer back to the pool.

        Raises:
            InvalidRelease: this object is not a buffer that is out.
        """

    @property
    def size_bytes(self) -> int:
        """Return the size of the pool: the bytes available when all buffers are back."""

    @property
    def available_bytes(self) -> int:
        """Return the available bytes; a pool that is not strict may be below zero."""

    @property
    def used_bytes(self) -> int:
        """Return the bytes of the buffers that are out."""

    @property
    def is_out_of_memory(self) -> bool:
        """Decide whether nothing is available."""


@mypyc_attr(allow_interpreted_subclasses=True)
class SimpleMemoryPool:
    """A pool of bounded size; a buffer that is lost without a release is missing for ever."""

    def __init__(
        self,
        size_bytes: SupportsIndex,
        max_single_bytes: SupportsIndex,
        *,
        strict: bool = False,
        clock: Clock | None = None,
        window_ms: int = 30_000,
    ) -> None:
        """Build the pool with all of its bytes available.

        Args:
            size_bytes: The size of the pool, at least 1.
            max_single_bytes: The largest buffer, at least 1 and at most the size.
            strict: Whether a request is refused that exceeds what is available. Otherwise a request
                is refused only when nothing is available.
            clock: Measures dry spells; a ``MonotonicClock`` when absent.
            window_ms: What ``depleted_percent`` looks back on, ms, at least 1.

        Raises:
            InvalidConfiguration: no pool can be built of these sizes.
            TypeError: the pool is in use already.

        Rules: POOL-CONSTRUCT.
        """
        if getattr(self, "_lent", None) is not None:
            refuse_second_init(self)
        self._size = configured("size_bytes", size_bytes)
        self._max_single = configured("max_single_bytes", max_single_bytes)
        if self._max_single > self._size:
            raise InvalidConfiguration(
                f"max_single_bytes is {self._max_single}; the pool has only {self._size} bytes"
            )
        configured("window_ms", window_ms)
        self._strict = strict
        self._available = self._size
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._token = refused_after_fork(self, self._lock)
        self._spells = DrySpells(MonotonicClock() if clock is None else clock, window_ms)
        # By the identity of the view. An identity is used again only after the reference has
        # called back, which takes it out of here.
        self._lent: dict[int, tuple[weakref.ref[memoryview], int]] = {}

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to copy or pickle a pool.

        Raises:
            TypeError: always.
        """
        refuse_copy(self)

    def __repr__(self) -> str:
        """Return the class and the bytes; read without the lock: lost buffers count as out."""
        available = f"{self._available} of {self._size} bytes available"
        return f"<{type(self).__name__}, {available}>"

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        """Return a writable buffer of exactly ``bytes_`` bytes, or None where the pool has none.

        Args:
            bytes_: 1 to ``max_single_bytes``.

        Raises:
            InvalidAllocation: the number lies outside, or is none.
            MemoryError: the interpreter has no memory; the pool is as it was.

        Rules: POOL-STRICT, POOL-NON-STRICT, POOL-REFUSAL, POOL-ALLOCATION-FAILS,
        POOL-EXACT-BUFFER, POOL-ZERO-REQUEST, POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST,
        POOL-CONSERVATION, POOL-BOUND, POOL-SPELL-BEGINS, POOL-SPELL-ENDS.
        """
        wanted = whole_bytes(bytes_)
        if not 1 <= wanted <= self._max_single:
            raise InvalidAllocation(f"{wanted} bytes; a buffer has 1 to {self._max_single}")
        self._credit_lost()
        debited = 0
        try:
            with self._lock:
                if self._available < (wanted if self._strict else 1):
                    self._spells.begin()
                    return None
                self._available -= wanted
                debited = wanted
            buffer = self._new_buffer(wanted)
            self._lend(buffer, wanted)
        except BaseException:
            with self._lock:
                self._available += debited
            raise
        return buffer

    def release(self, buffer: memoryview) -> None:
        """Give a buffer back; it cannot be used afterwards.

        Args:
            buffer: The very object that ``try_allocate`` has returned.

        Raises:
            NotABuffer: it is no memoryview.
            BufferReleased: it was given back before.
            BufferPart: it is a slice or another view of a buffer that is out.
            ForeignBuffer: the buffer is not from this pool.
            BufferInUse: something still uses it through the buffer protocol.

        Rules: POOL-RELEASE, POOL-RELEASE-AGAIN, POOL-RELEASE-SLICE, POOL-RELEASE-COPY,
        POOL-RELEASE-FOREIGN, POOL-RELEASE-NOTHING, POOL-CONSERVATION, POOL-SPELL-ENDS.
        """
        if not isinstance(buffer, memoryview):
            raise NotABuffer(buffer)
        self._credit_lost()
        with self._lock:
            lent = self._lent.get(id(buffer))
            if lent is not None and lent[0]() is buffer:
                try:
                    buffer.release()
                except BufferError:
                    raise BufferInUse from None
                del self._lent[id(buffer)]
                self._available += lent[1]
                self._spells.end()
                return
            # Raised without a name: a local variable would make a cycle with the traceback, and
            # the failed release would keep the buffers of its callers until a collection.
            raise self._why_not_lent(buffer)

    @property
    def size_bytes(self) -> int:
        """Return the size of the pool: the bytes available when all buffers are back.

        Rules: POOL-SIZE.
        """
        return self._size

    @property
    def available_bytes(self) -> int:
        """Return the bytes not lent; below zero where a non-strict pool has lent too many.

        Rules: POOL-CONSERVATION.
        """
        self._credit_lost()
        with self._lock:
            return self._available

    @property
    def used_bytes(self) -> int:
        """Return the bytes of the buffers that are out.

        Rules: POOL-USED, MUTING-GAUGES.
        """
        return self._size - self.available_bytes

    @property
    def is_out_of_memory(self) -> bool:
        """Decide whether nothing is available; a strict pool may refuse and not be out of memory.

        Rules: POOL-OUT-OF-MEMORY.
        """
        return self.available_bytes <= 0

    @property
    def depleted_ms(self) -> int:
        """Return the length of the ended dry spells together, ms.

        Rules: POOL-DEPLETED-TIME.
        """
        with self._lock:
            return self._spells.total_ms

    @property
    def depleted_spells(self) -> int:
        """Return the number of dry spells that have ended.

        Rules: POOL-SPELL-ENDS.
        """
        with self._lock:
            return self._spells.ended

    @property
    def depleted_percent(self) -> float:
        """Return the share of the last ``window_ms`` spent in dry spells, 0 to 100."""
        with self._lock:
            return self._spells.percent()

    def _new_buffer(self, bytes_: int) -> memoryview:
        """Make the memory of a buffer; whoever takes it from elsewhere overrides this."""
        return new_buffer(bytes_)

    def _lend(self, buffer: memoryview, size: int) -> None:
        identity = id(buffer)
        reference = weakref.ref(buffer, lambda _: self._lost(identity))
        with self._lock:
            self._spells.end()
            self._lent[identity] = reference, size

    def _lost(self, identity: int) -> None:
        """Note that a view has died; runs anywhere, under any lock, and so takes none."""
        self._lent.pop(identity, None)

    def _credit_lost(self) -> None:
        """Account for lost buffers: this pool has none to account for."""

    def _why_not_lent(self, buffer: memoryview) -> InvalidRelease:
        memory = _memory_of(buffer)
        if memory is None:
            return BufferReleased()
        views = [reference() for reference, _ in list(self._lent.values())]
        if any(view is not None and _memory_of(view) is memory for view in views):
            return BufferPart()
        return ForeignBuffer()


def new_buffer(bytes_: int) -> memoryview:
    """Make writable memory of this size, all zero.

    Raises:
        MemoryError: there is none, or no machine could address so much.
    """
    if bytes_ > sys.maxsize:
        # Python has another error for these sizes, which says nothing of memory.
        raise MemoryError(f"no buffer has {bytes_} bytes")
    return memoryview(bytearray(bytes_))


def _memory_of(view: memoryview) -> object | None:
    """Return the object whose memory the view shows; None for a released view."""
    try:
        return view.obj
    except ValueError:
        return None


def whole_bytes(bytes_: SupportsIndex) -> int:
    """Return a number of bytes as a Python integer.

    Raises:
        InvalidAllocation: it is no integer.
    """
    try:
        return index(bytes_)
    except TypeError:
        raise InvalidAllocation(f"{bytes_!r} is no whole number of bytes") from None
