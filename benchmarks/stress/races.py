"""Races planted by substitution: what the stress run must find, each a mistake that is easy to make.

Every one replaces a method of the implementation by one that does the same, in one thread. The
interpreter changes threads at calls and at the ends of loops alone, so that a read and a write
side by side are never torn apart: these here have a call between them, as most code has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.stress.harness import Kind
from purgatory_impl import DelayedOperation, SimpleMemoryPool, Timer, TimerTask
from purgatory_impl.accounting import Accounting
from purgatory_impl.purgatory import Purgatory
from purgatory_impl.watchers import Entry, Key, Shard, Walk, WatcherList


@dataclass(frozen=True)
class Race:
    """A planted race.

    Attributes:
        name: Names it on the command line.
        component: ``purgatory``, ``timer`` or ``memory_pool``.
        says: What is wrong, in a few words.
        kinds: How the stress run may find it.
        substitutes: The classes, the names of their methods, and what stands there instead.
    """

    name: str
    component: str
    says: str
    kinds: frozenset[Kind]
    substitutes: tuple[tuple[type, str, object], ...]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Have the race in the implementation for a while."""
        originals = [(owner, name, owner.__dict__[name]) for owner, name, _ in self.substitutes]
        try:
            for owner, name, substitute in self.substitutes:
                setattr(owner, name, substitute)
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)


# Purgatory


def _force_without_lock(self: DelayedOperation) -> bool:
    if self.is_completed:
        return False
    self._completed = True
    balance, self._entries = self._entries, 0
    if self._accounting is not None:
        self._accounting.post(balance - (self._place.drop() if self._place is not None else 0))
    self._take_time_out()
    self.on_complete()
    return True


def _post_by_read_then_write(self: Accounting, balance: int) -> None:
    stale = self.stale
    self._stale = _sum(stale, balance)
    with self._lock:
        if self._stale > self.purge_interval:
            self._changed.notify_all()


def _sum(one: int, other: int) -> int:
    return one + other


def _watch_without_second_try(
    self: Purgatory[Key], operation: DelayedOperation, places: list[tuple[Shard[Key], Key]]
) -> bool:
    armed, due = self._arm(operation, len(places), self._time_outs)
    if armed:
        self._append(operation, places)
    self._accounting.count_watch()
    self._finish_watch(operation, due)
    return False


def _remove_and_keep_list(self: WatcherList[Key], entry: Entry[Key]) -> bool:
    if not entry.linked or not self.attached:
        return False
    entry.linked = False
    before, after = entry.previous, entry.next
    if before is None:
        self.first = after
    else:
        before.next = after
    if after is None:
        self.last = before
    else:
        after.previous = before
    self.length -= 1
    self.shard.entries -= 1
    return True


def _drop_list_if_empty(watched: WatcherList[Key]) -> None:
    """Take an empty list out of its dictionary, without the lock that others append under."""
    if watched.length == 0 and watched.attached:
        watched.shard.lists.pop(watched.key, None)
        watched.attached = False


def _drop_then_list(self: Entry[Key]) -> int:
    with self.owner.shard.lock:
        dropped = int(self.owner.remove(self))
    _drop_list_if_empty(self.owner)
    return dropped


_next_live = Walk.next_live
_sweep = Walk.sweep


def _next_live_then_list(self: Walk[Key]) -> tuple[Entry[Key] | None, int]:
    entry, dropped = _next_live(self)
    if self._list is not None:
        _drop_list_if_empty(self._list)
    return entry, dropped


def _sweep_then_list(self: Walk[Key]) -> int:
    dropped = _sweep(self)
    if self._list is not None:
        _drop_list_if_empty(self._list)
    return dropped


def _sweep_and_let_go_under_lock(self: Walk[Key]) -> int:
    removed = 0
    with self._shard.lock:
        while (entry := self._present()) is not None:
            self._cursor = entry.next
            if entry.linked and entry.operation.is_completed and entry.owner.remove(entry):
                removed += 1
    return removed
