"""Races planted by substitution: what the stress run must find, each of them easily made.

Every one replaces a method of the implementation by one that does the same, in one thread. The
interpreter changes threads at calls and at the ends of loops alone, so that a read and a write
side by side are never torn apart: these here have a call between them, as most code has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final
from unittest.mock import patch

from purgatory_impl import (
    DelayedOperation,
    LeakDetectingMemoryPool,
    Purgatory,
    SimpleMemoryPool,
    Task,
    Timer,
)
from purgatory_impl.accounting import Accounting
from purgatory_impl.chunks import Key, WatcherList
from purgatory_impl.delayed_operation import take_time_out
from purgatory_impl.executors import join
from purgatory_impl.guarded import GuardedTask
from purgatory_impl.memory_pool import new_buffer
from purgatory_impl.walks import Pace, Walk
from purgatory_impl.watchers import Shard
from purgatory_lab.scheduling.bundled.seeded_races import (
    add_without_lock,
    watch_without_second_try,
)
from purgatory_lab.stress.harness import PATIENCE_S, Kind


@dataclass(frozen=True)
class Race:
    """A race that can be planted.

    Attributes:
        name: Names it on the command line.
        component: ``purgatory``, ``timer`` or ``memory_pool``.
        says: What is wrong, in a few words.
        kinds: How the stress run may find it.
        substitutes: The classes, the names of the methods, and the functions put in their place.
    """

    name: str
    component: str
    says: str
    kinds: frozenset[Kind]
    substitutes: tuple[tuple[type, str, object], ...]

    @property
    def patience_s(self) -> float:
        """Return how long no step may be made before it counts as stuck, s."""
        return 6.0 if Kind.STUCK in self.kinds else PATIENCE_S

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Have the race in the implementation for a while."""
        with ExitStack() as stack:
            for owner, name, substitute in self.substitutes:
                stack.enter_context(patch.object(owner, name, substitute))
            yield


# Purgatory


def _force_without_lock(self: DelayedOperation) -> bool:
    if self.is_completed:
        return False
    take_time_out(self)
    balance = self._entries - (self._place.drop() if self._place is not None else 0)
    self._completed, self._entries = True, 0
    if self._accounting is not None:
        self._accounting.post(balance)
    self.on_complete()
    return True


def _post_by_read_then_write(
    self: Accounting, balance: int, taken: GuardedTask | None = None
) -> None:
    if taken is not None:
        self.end_time_out(taken)
    stale = self.stale
    self._stale = _sum(stale, balance)
    with self._lock:
        due = self._stale > self._wake_above
    if due:
        self._wake_reaper()


def _sum(one: int, other: int) -> int:
    return one + other


def _keep_list(_shard: Shard[Key], _watched: WatcherList[Key]) -> None:
    """Keep an empty list in its dictionary, for the moment."""


def _drop_list_if_empty(walk: Walk[Key]) -> None:
    """Take an empty list out of its dictionary, without the lock that others append under."""
    watched, lists = walk._list, walk._shard.lists
    if watched.length == 0 and lists.get(watched.key) is watched:
        _forget(lists, watched.key)


def _forget(lists: dict[Key, WatcherList[Key]], key: Key) -> None:
    lists.pop(key, None)


_drop = Walk.drop
_next_live = Walk.next_live
_sweep = Walk.sweep


def _drop_then_list(self: Walk[Key]) -> int:
    dropped = _drop(self)
    _drop_list_if_empty(self)
    return dropped


def _next_live_then_list(self: Walk[Key]) -> tuple[DelayedOperation | None, int]:
    operation, dropped = _next_live(self)
    _drop_list_if_empty(self)
    return operation, dropped


def _sweep_then_list(self: Walk[Key], pace: Pace | None = None) -> int:
    dropped = _sweep(self, pace)
    _drop_list_if_empty(self)
    return dropped


def _sweep_and_let_go_under_lock(self: Walk[Key], pace: Pace | None = None) -> int:
    removed = 0
    with self._shard.lock:
        while not self._over:
            gone: list[DelayedOperation] = []
            self._remove_in_hold(gone, True)
            removed += len(gone)
            gone.clear()
    if pace is not None:
        pace.count(removed)
    return removed


# Timer


def _cancel_without_lock(self: Timer, task: Task) -> bool:
    return task._timer is self and self._wheel.remove(task)


def _close_and_let_go_under_lock(self: Timer, timeout_ms: int = 5000) -> None:
    with self._lock:
        self._closed = True
        dropped = self._wheel.drop_all()
        while dropped:
            dropped.pop()._dropped()
    with self._sleep:
        self._earlier.notify_all()
    if self._reaper is not None:
        join(self._reaper, timeout_ms)
    if self._own_executor is not None:
        self._own_executor.close(timeout_ms)


# Memory pool


def _allocate_by_check_then_debit(self: SimpleMemoryPool, bytes_: int) -> memoryview | None:
    with self._lock:
        enough = self._available >= (bytes_ if self._strict else 1)
    if not enough:
        return None
    buffer = new_buffer(bytes_)
    with self._lock:
        self._available -= bytes_
    self._lend(buffer, bytes_)
    return buffer


def _release_by_look_then_credit(self: SimpleMemoryPool, buffer: memoryview) -> None:
    self._credit_lost()
    lent = self._lent.get(id(buffer))
    if lent is None or lent[0]() is not buffer:
        raise self._why_not_lent(buffer)
    buffer.release()
    self._lent.pop(id(buffer), None)
    with self._lock:
        self._available += lent[1]


def _credit_lost_by_read_then_write(self: LeakDetectingMemoryPool) -> None:
    available = self._available
    while self._lost_bytes:
        self._leaked += 1
        available += self._lost_bytes.popleft()
        self._available = available


RACES: Final = (
    Race(
        "completed-outside-lock",
        "purgatory",
        "a force looks whether the operation is completed, and marks it later, under no lock",
        frozenset({Kind.TWICE, Kind.RESULT, Kind.COUNT}),
        ((DelayedOperation, "force_complete", _force_without_lock),),
    ),
    Race(
        "no-second-try",
        "purgatory",
        "a watch does not try again once the operation is in its lists",
        frozenset({Kind.LOST}),
        ((Purgatory, "_watch", watch_without_second_try),),
    ),
    Race(
        "stale-read-then-written",
        "purgatory",
        "a balance is posted by reading the count and then writing it",
        frozenset({Kind.COUNT}),
        ((Accounting, "post", _post_by_read_then_write),),
    ),
    Race(
        "list-dropped-unlocked",
        "purgatory",
        "an empty list is taken out of its dictionary after the lock was let go",
        frozenset({Kind.LOST, Kind.COUNT, Kind.TIME_OUT_LOST}),
        (
            (Shard, "forget", _keep_list),
            (Walk, "drop", _drop_then_list),
            (Walk, "next_live", _next_live_then_list),
            (Walk, "sweep", _sweep_then_list),
        ),
    ),
    Race(
        "finaliser-under-shard-lock",
        "purgatory",
        "a purge lets go of operations under the lock of their list",
        frozenset({Kind.STUCK}),
        ((Walk, "sweep", _sweep_and_let_go_under_lock),),
    ),
    Race(
        "cancel-without-lock",
        "timer",
        "a cancel takes the task out of its bucket under no lock",
        frozenset({Kind.COUNT, Kind.RAISED, Kind.TIME_OUT_LOST, Kind.STUCK}),
        ((Timer, "cancel", _cancel_without_lock),),
    ),
    Race(
        "add-without-lock",
        "timer",
        "an add puts the task into its bucket under no lock",
        frozenset({Kind.COUNT, Kind.RAISED, Kind.TIME_OUT_LOST, Kind.STUCK}),
        ((Timer, "_add_quietly", add_without_lock),),
    ),
    Race(
        "finaliser-under-timer-lock",
        "timer",
        "closing lets go of pending tasks under the lock",
        frozenset({Kind.STUCK}),
        ((Timer, "close", _close_and_let_go_under_lock),),
    ),
    Race(
        "checked-then-debited",
        "memory_pool",
        "an allocation looks what is available, and debits later",
        frozenset({Kind.COUNT}),
        ((SimpleMemoryPool, "try_allocate", _allocate_by_check_then_debit),),
    ),
    Race(
        "released-twice",
        "memory_pool",
        "a release looks the buffer up, and credits it later",
        frozenset({Kind.COUNT, Kind.RAISED}),
        ((SimpleMemoryPool, "release", _release_by_look_then_credit),),
    ),
    Race(
        "leak-read-then-credited",
        "memory_pool",
        "lost bytes are credited by reading what is available and then writing it",
        frozenset({Kind.COUNT, Kind.RAISED}),
        ((LeakDetectingMemoryPool, "_credit_lost", _credit_lost_by_read_then_write),),
    ),
)
"""All planted races."""
