"""The bundled memory pool in a run, with the buffers that its programs hold."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from purgatory_impl import LeakDetectingMemoryPool, MemoryPoolError, VirtualClock
from purgatory_lab.scheduling.history import RecordedHistory
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_spec.operations import Allocate, Elapse, Lose, Operation, Release, operation_name
from purgatory_spec.outcomes import Value
from purgatory_spec.reasons import Reason

SIZE_BYTES: Final = 2
MAX_SINGLE_BYTES: Final = 2


class MemoryPoolWorld:
    """A pool of a few bytes.

    A buffer goes by the name in its call. Releasing or losing a buffer that was refused is left
    out, as a caller would.

    Attributes:
        history: Calls and returns in the order in which they happened.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        size_bytes: int = SIZE_BYTES,
        max_single_bytes: int = MAX_SINGLE_BYTES,
        strict: bool = False,
    ) -> None:
        """Make a fresh pool; see the pool itself for the arguments."""
        self.scheduler = scheduler
        self.history = RecordedHistory(scheduler)
        self.clock = VirtualClock()
        self.pool = LeakDetectingMemoryPool(
            size_bytes, max_single_bytes, strict=strict, clock=self.clock
        )
        self.buffers: dict[str, memoryview] = {}
        self.most_bytes = size_bytes if strict else size_bytes + max_single_bytes - 1
        self._lost = 0

    def prepare(self, operations: Sequence[Operation]) -> None:
        """Prepare nothing: a pool needs no objects beforehand."""

    def perform(self, operation: Operation) -> None:
        """Carry out a call in the running thread, and note it with its result."""
        if isinstance(operation, Release | Lose) and operation.buffer not in self.buffers:
            return
        self.history.call(operation, partial(self._carry_out_or_refuse, operation))

    def observe(self) -> None:
        """Read what the pool shows in the running thread."""
        self.scheduler.mark("looks at the pool")
        assert self.pool.available_bytes <= self.pool.size_bytes
        assert self.pool.leaked >= 0

    def close(self) -> None:
        """End nothing: a pool has no threads."""

    def inspect(self) -> list[str]:
        """Return a problem where the bytes that are out exceed the bound.

        Rules: POOL-BOUND.
        """
        out = sum(buffer.nbytes for buffer in self.buffers.values())
        return [f"{out} bytes are out"] if out > self.most_bytes else []

    def problems(self) -> list[str]:
        """Return the problems of the pool after the return of every call.

        Rules: POOL-CONSERVATION, POOL-LEAK, POOL-STRICT, POOL-NON-STRICT.
        """
        pool = self.pool
        out = sum(buffer.nbytes for buffer in self.buffers.values())
        found = []
        if pool.available_bytes + out != pool.size_bytes:
            found.append(f"{pool.available_bytes} bytes are available, and {out} are out")
        if pool.leaked != self._lost:
            found.append(f"{pool.leaked} buffers are counted as lost, and {self._lost} are")
        if len(pool._lent) != len(self.buffers):
            found.append(f"{len(pool._lent)} buffers are lent, and {len(self.buffers)} are out")
        return found

    def _carry_out_or_refuse(self, operation: Operation) -> tuple[Value, Reason | None]:
        try:
            return self._carry_out(operation), None
        except MemoryPoolError as error:
            return None, error.reason

    def _carry_out(self, operation: Operation) -> Value:
        match operation:
            case Allocate(name, size_bytes):
                buffer = self.pool.try_allocate(size_bytes)
                if buffer is None:
                    return False
                self.buffers[name] = buffer
                return True
            case Release(name):
                buffer = self.buffers.pop(name)
                self.pool.release(buffer)
                return None
            case Elapse(to_ms):
                self.clock.set_ms(to_ms)
                return None
            case Lose(name):
                # Its last reference goes here.
                self._lost += 1
                del self.buffers[name]
                return None
            case _:
                raise ValueError(f"a memory pool has no call {operation_name(operation)}")
