"""A memory pool's snapshot, on a manual clock."""

from immutables import Map

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_traces.errors import Unusable
from purgatory_traces.snapshots.mismatch import (
    Mismatch,
    mapping_difference,
    names_words,
    reject_other_time,
    reject_parts,
)
from purgatory_traces.traces.lines import MemoryPoolInstance, Snapshot


def memory_pool_state(snapshot: Snapshot, instance: MemoryPoolInstance) -> MemoryPoolState:
    """Return the state that a snapshot tells.

    Raises:
        Unusable: it contradicts itself.
    """
    reject_parts(
        "memory pool",
        {
            "tasks": snapshot.tasks,
            "queued tasks": snapshot.queued,
            "operations": snapshot.operations,
            "lists": snapshot.lists,
            "scripts": snapshot.scripts,
        },
    )
    held: dict[str, int] = {}
    for each in snapshot.buffers:
        if each.buffer in held:
            raise Unusable(f"buffer {each.buffer!r} is told twice")
        held[each.buffer] = each.size_bytes
    size = instance.configuration.size_bytes
    left = size if instance.configuration.unbounded else size - sum(held.values())
    available = left if snapshot.available_bytes is None else snapshot.available_bytes
    return MemoryPoolState(available, Map(held), now_ms=snapshot.now_ms or 0)


def memory_pool_mismatch(
    told: MemoryPoolState, believed: MemoryPoolState, snapshot: Snapshot
) -> Mismatch | None:
    """Return the contradiction between a snapshot and a possible state, or None."""
    if snapshot.now_ms is not None:
        reject_other_time(told.now_ms, believed.now_ms)
    missing, extra, other = mapping_difference(believed.held, told.held)
    if missing or extra or other:
        return Mismatch(
            "POOL-CONSERVATION",
            f"{believed.outstanding_bytes} bytes outstanding",
            f"{told.outstanding_bytes} bytes outstanding; "
            + names_words("not as granted", [*missing, *extra, *other]),
        )
    if snapshot.available_bytes not in (None, believed.available_bytes):
        return Mismatch(
            "POOL-CONSERVATION",
            f"available_bytes = {believed.available_bytes}",
            f"available_bytes = {snapshot.available_bytes}",
        )
    return None
