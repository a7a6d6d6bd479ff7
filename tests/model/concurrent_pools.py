"""Concurrent pools, programs for their threads, and the sequential pool beside them."""

from collections.abc import Iterator
from dataclasses import dataclass

from immutables import Map

from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool, ConcurrentPoolState
from purgatory_model.memory_pool import MemoryPoolModel, MemoryPoolState
from purgatory_model.overlapping.interleaving import Called, HistoryEvent, Returned
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.replacing import replace
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import MemoryPoolConfiguration, MemoryPoolProfile, ReleaseValidation


def sequential_pool(pool: ConcurrentMemoryPool) -> MemoryPoolModel:
    """The sequential pool of the same sizes and the same validation, which shows nothing."""
    checks = ReleaseValidation.IDENTITY if pool.identity else ReleaseValidation.NONE
    profile = MemoryPoolProfile(release_validation=checks)
    return MemoryPoolModel(pool.configuration, profile)


@dataclass(frozen=True)
class Forgetful:
    """A sequential pool without its past, so that its states are finitely many."""

    # Dry spells are not looked at here; which buffers were given back matters to a pool that checks
    # releases alone.

    model: MemoryPoolModel

    def initial(self) -> MemoryPoolState:
        return self.model.initial()

    def successors(
        self, state: MemoryPoolState, operation: Operation
    ) -> Iterator[tuple[Outcome, MemoryPoolState]]:
        for outcome, after in self.model.successors(state, operation):
            known: Map[str, int] = after.returned if self.model.knows_its_own else Map()
            yield outcome, replace(after, returned=known, spell_began_ms=None, depleted_spells=0)


def pool(
    size_bytes: int,
    max_single_bytes: int,
    threads: int,
    *variants: str,
    strict: bool = False,
    identity: bool = False,
) -> ConcurrentMemoryPool:
    """A pool and so many threads, called t1, t2 and so on."""
    return ConcurrentMemoryPool(
        MemoryPoolConfiguration(size_bytes, max_single_bytes, strict),
        tuple(f"t{number}" for number in range(1, threads + 1)),
        identity,
        frozenset(variants),
    )


def has_nothing(state: ConcurrentPoolState, thread: str, operation: Operation) -> bool:
    """Decide whether a thread is to give back a buffer that it was not granted."""
    return isinstance(operation, Release) and not state.thread(thread).held_bytes


def programmed(
    shared: ConcurrentMemoryPool, *sizes_bytes: tuple[int, ...]
) -> Programmed[ConcurrentPoolState]:
    """Each thread asks for these sizes in turn, and gives back what it gets."""
    programs: dict[str, tuple[Operation, ...]] = {}
    for thread, sizes in zip(shared.threads, sizes_bytes, strict=True):
        calls = [(Allocate(thread, size), Release(thread)) for size in sizes]
        programs[thread] = tuple(call for pair in calls for call in pair)
    return Programmed(shared, programs, leaves_out=has_nothing)


def asks(thread: str, size_bytes: int) -> tuple[HistoryEvent, HistoryEvent, HistoryEvent]:
    """A request, and the two ways in which it may end."""
    return (
        Called(thread, Allocate(thread, size_bytes)),
        Returned(thread, True),
        Returned(thread, False),
    )
