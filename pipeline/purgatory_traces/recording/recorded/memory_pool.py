"""A memory pool that records itself: any pool of ``purgatory_impl``, with a recorder in front.

    pool = RecordedMemoryPool(Recorder(Path("buffers.jsonl"), "buffers of node 7"), pool)

Buffers are named by numbers. A name is kept as long as the buffer's object is there, by a weak
reference: what is given back a second time is known to have been given back before.

Losses. A pool that detects leaks credits a lost buffer in the next call of anybody, so a loss is
written as a call that begins no later than any call that may have credited the buffer ends, and
that ends with the first call that has begun after it and must therefore have credited it. The
collector itself, which may strike anywhere, only leaves word.
"""

import weakref
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, SupportsIndex

from purgatory_impl import LeakDetectingMemoryPool, MemoryPool, PurgatoryError, SimpleMemoryPool
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.traces.lines import HeldBuffer, MemoryPoolInstance, Snapshot


class _Lent(NamedTuple):
    name: str
    reference: weakref.ref[memoryview]


class RecordedMemoryPool:
    """A pool whose calls are recorded; it is a ``MemoryPool`` itself."""

    def __init__(self, recorder: Recorder, pool: MemoryPool) -> None:
        """Record a pool from now on; nothing may be lent by it yet.

        Args:
            recorder: Records this pool alone.
            pool: A pool of ``purgatory_impl``.
        """
        self._recorder = recorder
        self._pool = pool
        self._lent: dict[int, _Lent] = {}
        self._held: dict[str, int] = {}
        """The sizes of buffers that are out, by name."""
        self._lost: deque[str] = deque()
        self._losses_begun: list[str] = []
        recorder.begin(_described(pool), self)

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        """Return a buffer, or None where the pool has none to give, and record that."""
        if not hasattr(bytes_, "__index__"):
            return self._pool.try_allocate(bytes_)
        wanted = bytes_.__index__()
        name = next(self._recorder.names)
        losses = self._begin(op.Allocate(name, wanted))
        try:
            buffer = self._pool.try_allocate(wanted)
        except PurgatoryError as error:
            self._end(losses, error)
            raise
        if buffer is not None:
            self._keep(name, buffer)
        self._end(losses, None, buffer is not None)
        return buffer

    def release(self, buffer: memoryview) -> None:
        """Give a buffer back, and record that."""
        operation = self._giving_back(buffer)
        losses = self._begin(operation)
        try:
            self._pool.release(buffer)
        except PurgatoryError as error:
            self._end(losses, error)
            raise
        if isinstance(operation, op.Release):
            self._held.pop(operation.buffer, None)
        self._end(losses, None)

    @property
    def size_bytes(self) -> int:
        """Return the size of the pool: the bytes available when all buffers are back."""
        return self._pool.size_bytes

    @property
    def available_bytes(self) -> int:
        """Return the available bytes; a pool that is not strict may be below zero."""
        return self._pool.available_bytes

    @property
    def used_bytes(self) -> int:
        """Return the bytes of the buffers that are out."""
        return self._pool.used_bytes

    @property
    def is_out_of_memory(self) -> bool:
        """Decide whether nothing is available."""
        return self._pool.is_out_of_memory

    def live(self) -> Snapshot | None:
        """Return the outstanding buffers; None while a loss is not written down to its end."""
        if self._lost or self._losses_begun:
            return None
        held = tuple(HeldBuffer(name, size) for name, size in dict(self._held).items())
        return Snapshot(run="", seq=0, buffers=held)

    def _begin(self, operation: op.Operation) -> list[str]:
        """Begin a call; the losses that it is going to have seen when it ends."""
        self._tell_losses()
        seen, self._losses_begun = self._losses_begun, []
        self._recorder.call(operation)
        return seen

    def _end(
        self, losses: list[str], refused: PurgatoryError | None, result: bool | None = None
    ) -> None:
        self._tell_losses()
        for name in losses:
            self._recorder.returned_elsewhere(f"loss of {name}")
        self._recorder.returned(result, None if refused is None else refused.reason)

    def _tell_losses(self) -> None:
        while self._lost:
            try:
                name = self._lost.popleft()
            except IndexError:
                return
            self._recorder.call_elsewhere(f"loss of {name}", op.Lose(name))
            self._losses_begun.append(name)

    def _keep(self, name: str, buffer: memoryview) -> None:
        identity = id(buffer)
        self._held[name] = buffer.nbytes
        reference = weakref.ref(buffer, self._gone(identity, name))
        self._lent[identity] = _Lent(name, reference)

    def _gone(self, identity: int, name: str) -> Callable[[object], None]:
        """Return a callback for the loss of a buffer's object; it runs anywhere, without a lock."""

        def forget(_: object) -> None:
            lent = self._lent.get(identity)
            if lent is not None and lent.name == name:
                del self._lent[identity]
            if self._held.pop(name, None) is not None and self._notices_losses:
                self._lost.append(name)

        return forget

    @property
    def _notices_losses(self) -> bool:
        return isinstance(self._pool, LeakDetectingMemoryPool)

    def _giving_back(self, buffer: object) -> op.Operation:
        """Return the words for giving this object back."""
        if not isinstance(buffer, memoryview):
            return op.ReleaseNothing()
        lent = self._lent.get(id(buffer))
        if lent is not None and lent.reference() is buffer:
            return op.Release(lent.name)
        memory = _memory_of(buffer)
        for other in list(self._lent.values()):
            whole = other.reference()
            if whole is not None and memory is not None and _memory_of(whole) is memory:
                return op.Release(other.name, op.ReleaseForm.SLICE)
        return op.ReleaseForeign(0 if memory is None else buffer.nbytes)


def _memory_of(view: memoryview) -> object | None:
    """Return the object whose memory the view shows; None for a released view."""
    try:
        return view.obj
    except ValueError:
        return None


def _described(pool: MemoryPool) -> MemoryPoolInstance:
    if not isinstance(pool, SimpleMemoryPool):
        return MemoryPoolInstance(
            profiles.MemoryPoolConfiguration(unbounded=True), profiles.MemoryPoolProfile()
        )
    detects = isinstance(pool, LeakDetectingMemoryPool)
    return MemoryPoolInstance(
        profiles.MemoryPoolConfiguration(pool._size, pool._max_single, pool._strict),
        profiles.MemoryPoolProfile(
            release_validation=profiles.ReleaseValidation.IDENTITY,
            features=frozenset({profiles.MemoryPoolFeature.LEAK_DETECTION} if detects else ()),
        ),
    )
