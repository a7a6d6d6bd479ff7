"""A memory pool that records itself: any pool of ``purgatory_impl``, with a recorder in front.

    pool = RecordedMemoryPool(Recorder(Path("buffers.jsonl"), "buffers of node 7"), pool)

Buffers are named by numbers. A name is kept as long as the buffer's object is there, by a weak
reference: what is given back a second time is known to have been given back before.
"""

import weakref
from collections.abc import Callable
from typing import Protocol, SupportsIndex

from purgatory_impl import LeakDetectingMemoryPool, MemoryPool, PurgatoryError
from purgatory_impl.unbounded_memory_pool import UnboundedMemoryPool
from purgatory_pipeline.recording.recorder import Recorder
from purgatory_pipeline.trace_lines import HeldBuffer, MemoryPoolInstance, Snapshot
from purgatory_spec.operations import (
    Allocate,
    MemoryPoolOperation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
)
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ReleaseValidation
