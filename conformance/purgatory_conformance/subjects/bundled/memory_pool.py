"""The bundled memory pools behind the step vocabulary, on a virtual clock."""

import gc
import logging
from contextvars import ContextVar
from dataclasses import dataclass

from purgatory_impl import (
    LeakDetectingMemoryPool,
    PurgatoryError,
    SimpleMemoryPool,
    UnboundedMemoryPool,
    VirtualClock,
)
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.reasons import Reason

PROFILE = profiles.MemoryPoolProfile(
    release_validation=profiles.ReleaseValidation.IDENTITY,
    features=frozenset(profiles.MemoryPoolFeature),
    observables=frozenset(profiles.MemoryPoolObservable),
)
"""The profile of the bundled pools: everything that the suite can ask for."""


_IN_A_STEP: ContextVar[bool] = ContextVar("in_a_step", default=False)


def _is_news(_: logging.LogRecord) -> bool:
    """Decide whether a record is of another pool: a step loses buffers on purpose."""
    return not _IN_A_STEP.get()


logging.getLogger("purgatory").addFilter(_is_news)


class _UnknownName(Exception):
    """A step names a buffer that was never granted."""


class _Pool(LeakDetectingMemoryPool):
    """A pool that detects leaks, and whose allocations can be made to fail."""

    fails = False

    def _new_buffer(self, bytes_: int) -> memoryview:
        if self.fails:
            raise MemoryError
        return super()._new_buffer(bytes_)


@dataclass(slots=True)
class _Held:
    """A buffer that was granted, whether or not it has come back, and a slice of all of it."""

    view: memoryview
    slice: memoryview
    size_bytes: int
    returned: bool = False


class MemoryPoolInstance:
    """A pool with the buffers that steps have named."""

    def __init__(self, configuration: profiles.Configuration) -> None:
        """Make a fresh pool; a bounded pool detects leaks."""
        sizes = narrowed(configuration, profiles.MemoryPoolConfiguration)
        self.clock = VirtualClock()
        self.pool: _Pool | UnboundedMemoryPool = UnboundedMemoryPool()
        if not sizes.unbounded:
            self.pool = _Pool(
                sizes.size_bytes, sizes.max_single_bytes, strict=sizes.strict, clock=self.clock
            )
        self._buffers: dict[str, _Held] = {}

    def do(self, operation: op.Operation) -> Outcome:
        """Carry out one operation and return its outcome."""
        token = _IN_A_STEP.set(True)
        try:
            return self._do(operation)
        finally:
            _IN_A_STEP.reset(token)

    def _do(self, operation: op.Operation) -> Outcome:
        result: Value = None
        rejected: Reason | None = None
        granted_bytes: int | None = None
        try:
            if isinstance(operation, op.Allocate):
                granted_bytes = self._allocate(operation)
                result = granted_bytes is not None
            elif isinstance(operation, op.Read):
                seen = bytes(self._named(operation.buffer).view)
                result = seen[0] if seen and seen.count(seen[0]) == len(seen) else -1
            else:
                self._perform(operation)
        except PurgatoryError as error:
            rejected = error.reason
        except MemoryError:
            rejected = Reason.NO_MEMORY
        except _UnknownName:
            rejected = Reason.UNKNOWN_NAME
        return Outcome(result, rejected, observed=self._observe(granted_bytes))

    def close(self) -> None:
        """Forget the buffers; their pool goes with them."""
        self._buffers.clear()

    def _allocate(self, operation: op.Allocate) -> int | None:
        """Return the capacity of the buffer that was granted; None without one."""
        if isinstance(self.pool, _Pool):
            self.pool.fails = operation.fail
        view = self.pool.try_allocate(operation.size_bytes)
        if view is None:
            return None
        self._buffers[operation.buffer] = _Held(view, view[:], operation.size_bytes)
        return view.nbytes

    def _perform(self, operation: op.Operation) -> None:
        match operation:
            case op.Release(name, form):
                self._release(self._named(name), form)
            case op.ReleaseForeign(size_bytes):
                self.pool.release(memoryview(bytearray(size_bytes)))
            case op.ReleaseNothing():
                self.pool.release(None)  # type: ignore[arg-type]
            case op.Lose(name):
                if self._named(name).returned:
                    raise _UnknownName
                del self._buffers[name]
                # For interpreters that do not count references.
                gc.collect(0)
            case op.Fill(name, value):
                view = self._named(name).view
                view[:] = bytes([value]) * view.nbytes
            case op.Construct(size_bytes, max_single_bytes):
                SimpleMemoryPool(size_bytes, max_single_bytes)
            case op.Elapse(to_ms):
                self.clock.set_ms(to_ms)
            case _:
                raise ValueError(f"a memory pool has no such operation: {operation}")

    def _release(self, held: _Held, form: op.ReleaseForm) -> None:
        match form:
            case op.ReleaseForm.ITSELF:
                self.pool.release(held.view)
                held.returned = True
            case op.ReleaseForm.SLICE:
                self.pool.release(held.slice)
            case op.ReleaseForm.COPY:
                self.pool.release(memoryview(bytearray(held.size_bytes)))

    def _named(self, name: str) -> _Held:
        if name not in self._buffers:
            raise _UnknownName
        return self._buffers[name]

    def _observe(self, granted_bytes: int | None) -> dict[str, Value]:
        pool = self.pool
        spells, dry_ms = 0, 0
        if isinstance(pool, LeakDetectingMemoryPool):
            spells, dry_ms = pool.depleted_spells, pool.depleted_ms
        return {
            "available_bytes": pool.available_bytes,
            "used_bytes": pool.used_bytes,
            "size_bytes": pool.size_bytes,
            "out_of_memory": pool.is_out_of_memory,
            "buffer_bytes": granted_bytes,
            "depleted_spells": spells,
            "depleted_ms": dry_ms,
        }
