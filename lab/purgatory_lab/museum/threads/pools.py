"""Memory pools with races that people reported, beside pools without.

``purgatory schedule purgatory_lab.museum.threads.pools:released_twice`` runs one of them.
"""

import threading
from functools import partial
from typing import ClassVar

from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    Configuration,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    ReleaseValidation,
)
from purgatory_spec.reasons import Reason


class Pool:
    """A count of free bytes and the sizes of buffers that are out, under one lock."""

    def __init__(self, size_bytes: int) -> None:
        """Make a pool of which nothing is out."""
        self.free_bytes = size_bytes
        self.out: dict[str, int] = {}
        self.lock = threading.Lock()

    def take(self, buffer: str, size_bytes: int) -> bool:
        """Hand out a buffer; return whether there was enough."""
        with self.lock:
            if size_bytes > self.free_bytes:
                return False
            self.free_bytes -= size_bytes
            self.out[buffer] = size_bytes
            return True

    def give(self, buffer: str) -> bool:
        """Take a buffer back; return whether it was out."""
        with self.lock:
            size_bytes = self.out.pop(buffer, None)
            if size_bytes is None:
                return False
            self.free_bytes += size_bytes
            return True


class LooksOutside(Pool):
    """Compares the size with the free bytes before it takes its lock, and never under it."""

    def take(self, buffer: str, size_bytes: int) -> bool:
        """Hand out a buffer; return whether there was enough."""
        if size_bytes > self.free_bytes:
            return False
        with self.lock:
            self.free_bytes -= size_bytes
            self.out[buffer] = size_bytes
            return True


class ReleasedTwice(Pool):
    """Looks whether a buffer was released, and marks it when that is known."""

    def give(self, buffer: str) -> bool:
        """Take a buffer back; return whether it was out."""
        size_bytes = self.out.get(buffer)
        if size_bytes is None:
            return False
        self.out.pop(buffer, None)
        with self.lock:
            self.free_bytes += size_bytes
        return True


class CountsWithoutALock(Pool):
    """Changes its count without a lock: of two releases at once one is lost."""

    def give(self, buffer: str) -> bool:
        """Take a buffer back; return whether it was out."""
        with self.lock:
            size_bytes = self.out.pop(buffer, None)
        if size_bytes is None:
            return False
        self.free_bytes += size_bytes
        return True


class Instance:
    """A pool behind the steps, which refuses what is not out."""

    kind: ClassVar[type[Pool]] = Pool

    def __init__(self, configuration: Configuration) -> None:
        """Make a pool."""
        assert isinstance(configuration, MemoryPoolConfiguration)
        self.pool = self.kind(configuration.size_bytes)

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        match operation:
            case Allocate(buffer, size_bytes):
                return Outcome(self.pool.take(buffer, size_bytes))
            case Release(buffer) if self.pool.give(buffer):
                return Outcome()
            case Release():
                return Outcome(rejected=Reason.INVALID_ARGUMENT)
            case _:
                return Outcome(rejected=Reason.UNSUPPORTED)

    def close(self) -> None:
        """Hold nothing that would have to be given back."""


def pool_subject(pool: type[Pool]) -> InProcessSubject:
    """Return a subject of pools of a class."""
    offers = frozenset({MemoryPoolFeature.STRICT, MemoryPoolFeature.RELEASE_AGAIN})
    profile = MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY, features=offers)
    return subject_of(type(pool.__name__, (Instance,), {"kind": pool}), profile)


under_one_lock = partial(pool_subject, Pool)
looks_outside = partial(pool_subject, LooksOutside)
released_twice = partial(pool_subject, ReleasedTwice)
counts_without_a_lock = partial(pool_subject, CountsWithoutALock)
