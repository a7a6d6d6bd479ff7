"""Snapshots of runs on a manual clock: the model's state that one tells, and whether it agrees.

Theory of operation. A snapshot tells what is live. Where nothing is known of the run, the model's
state is made of it and judging begins there. What a snapshot does not tell, how a timing wheel has
distributed its tasks and whether a pool is in a dry spell, the profile that is judged by from then
on does not show. Where the run was judged up to the snapshot, the snapshot must agree with what the
judge believes; the judge, which knows more, goes on.
"""

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.timer import TimerState
from purgatory_spec import profiles
from purgatory_traces.errors import Unusable
from purgatory_traces.snapshots.memory_pool import memory_pool_mismatch, memory_pool_state
from purgatory_traces.snapshots.mismatch import Mismatch
from purgatory_traces.snapshots.purgatory import purgatory_mismatch, purgatory_state
from purgatory_traces.snapshots.timer import timer_mismatch, timer_state
from purgatory_traces.traces.lines import (
    Instance,
    MemoryPoolInstance,
    PurgatoryInstance,
    Snapshot,
    TimerInstance,
)

State: TypeAlias = TimerState[PendingTasks] | PurgatoryState | MemoryPoolState

_INSIDES = frozenset(
    {
        profiles.Observable.WHEEL_CLOCK,
        profiles.Observable.QUEUED_BUCKETS,
        profiles.Observable.NEXT_EXPIRY,
        profiles.Observable.LEVELS,
    }
)
_SPELLS = frozenset(
    {profiles.MemoryPoolObservable.DEPLETED_SPELLS, profiles.MemoryPoolObservable.DEPLETED_TIME}
)


def profile_after_snapshot(instance: Instance) -> profiles.Profile:
    """Return the profile of the instance without the parts that a snapshot does not tell."""
    match instance:
        case TimerInstance(_, timer):
            return msgspec.structs.replace(
                timer, structure=profiles.Structure.ANY, observables=timer.observables - _INSIDES
            )
        case PurgatoryInstance(_, purgatory):
            return msgspec.structs.replace(purgatory, structure=profiles.Structure.ANY)
        case MemoryPoolInstance(_, pool):
            return msgspec.structs.replace(pool, observables=pool.observables - _SPELLS)


def state_of(snapshot: Snapshot, instance: Instance) -> State:
    """Return the state of the model that a snapshot tells.

    Raises:
        Unusable: it tells too little, or contradicts itself.
    """
    if snapshot.calls:
        raise Unusable("calls that are under way cannot be followed on a manual clock")
    match instance:
        case TimerInstance():
            if snapshot.queued and instance.profile.executor is not profiles.Executor.STEPPED:
                raise Unusable("only a stepped executor has tasks queued between two steps")
            return timer_state(snapshot, instance)
        case PurgatoryInstance():
            return purgatory_state(snapshot, instance)
        case MemoryPoolInstance():
            return memory_pool_state(snapshot, instance)


def mismatch(snapshot: Snapshot, instance: Instance, states: Iterable[object]) -> Mismatch | None:
    """Return the contradiction between a snapshot and the believed states, or None.

    Raises:
        Unusable: the snapshot is none of the instance at this time.
    """
    told = state_of(snapshot, instance)
    first: Mismatch | None = None
    for believed in states:
        found = _mismatch(told, believed, snapshot)
        if found is None:
            return None
        first = first or found
    return first


def _mismatch(told: State, believed: object, snapshot: Snapshot) -> Mismatch | None:
    match told, believed:
        case TimerState(), TimerState():
            return timer_mismatch(told, believed)
        case PurgatoryState(), PurgatoryState():
            return purgatory_mismatch(told, believed)
        case MemoryPoolState(), MemoryPoolState():
            return memory_pool_mismatch(told, believed, snapshot)
    raise AssertionError(f"a {type(believed).__name__} is no state of what the snapshot is of")
