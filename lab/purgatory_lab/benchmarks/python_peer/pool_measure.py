"""The measure of the memory pool."""

from typing import Final

from purgatory_lab.benchmarks.python_peer.costs import Stopwatch, expect
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure, Measurement, Request
from purgatory_impl import SimpleMemoryPool

SIZE_BYTES: Final = 2**30
LARGEST_BYTES: Final = 2**20


def pool(request: Request) -> Measurement:
    """Allocate a buffer and release it."""
    size = request.bytes
    if not 1 <= size <= LARGEST_BYTES:
        raise CannotMeasure(f"a buffer has 1 to {LARGEST_BYTES} bytes, and not {size}")
    made = SimpleMemoryPool(SIZE_BYTES, LARGEST_BYTES)
    allocate, release = made.try_allocate, made.release
    watch = Stopwatch()
    for _ in range(request.operations):
        buffer = allocate(size)
        if buffer is None:
            raise CannotMeasure("the pool has refused a buffer")
        release(buffer)
    costs = watch.costs()
    expect("bytes available at the end", SIZE_BYTES, made.available_bytes)
    return costs.answer(request.operations)
