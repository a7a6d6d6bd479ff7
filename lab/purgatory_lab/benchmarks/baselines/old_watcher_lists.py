"""The watcher lists of the old design: for each key the requests that wait under it, oldest first.

A request that is completed elsewhere stays in a list until a check of the key meets it, or until a
purge goes through all lists. One lock guards the lists. No try runs under it: a check goes through
a copy, and afterwards takes out of the list what it has met completed, and what it has completed.
"""

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

from purgatory_impl.exclusion import SectionLock, pure
from purgatory_impl.task import COMPILED
from purgatory_lab.benchmarks.baselines.old_operation import DelayedOperation

Key = TypeVar("Key", bound=Hashable)


class _Watchers:
    """The requests under one key; ``changes`` counts the times that some were taken out."""

    __slots__ = ("changes", "requests")

    def __init__(self) -> None:
        self.requests: list[DelayedOperation] = []
        self.changes = 0


class WatcherLists(Generic[Key]):
    """The lists of all keys; all methods may be called from any thread."""

    __slots__ = ("_entries", "_lists", "_lock")

    def __init__(self) -> None:
        """Make lists without any key."""
        self._lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._lists: dict[Key, _Watchers] = {}
        self._entries = 0

    @property
    def entries(self) -> int:
        """Return the sum of the lengths of all lists, completed requests included."""
        return self._entries

    @property
    def keys(self) -> int:
        """Return the number of lists."""
        return len(self._lists)

    def append(self, keys: tuple[Key, ...], operation: DelayedOperation) -> None:
        """Put a request at the end of the list of each key."""
        with self._lock:
            for key in keys:
                watchers = self._lists.get(key)
                if watchers is None:
                    watchers = self._lists[key] = _Watchers()
                watchers.requests.append(operation)
                self._entries += 1

    def try_all(self, key: Key) -> int:
        """Try the requests under a key, oldest first; what is completed leaves the list.

        An exception from a try ends the walk; the request that raised stays in the list, with all
        later requests.

        Returns:
            How many requests this call has completed.

        Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-COUNT, PURGATORY-CHECK-DROPS,
        PURGATORY-CHECK-THROWS.
        """
        with self._lock:
            watchers = self._lists.get(key)
            if watchers is None:
                return 0
            met = watchers.requests.copy()
            changes = watchers.changes
        kept: list[DelayedOperation] = []
        passed = completed = 0
        try:
            for operation in met:
                if not operation._completed:
                    if operation._try():
                        completed += 1
                    else:
                        kept.append(operation)
                passed += 1
        finally:
            if len(kept) < passed:
                kept.extend(met[passed:])
                self._drop(key, watchers, met, kept, changes)
        return completed

    def purge(self) -> int:
        """Go through all lists and take the completed requests out; how many entries that were.

        Rules: PURGATORY-PURGE-REMOVES, PURGATORY-EMPTY-LISTS.
        """
        removed = 0
        with self._lock:
            keys = list(self._lists)
        for key in keys:
            removed += self._purge_list(key)
        return removed

    def by_key(self) -> dict[Key, list[DelayedOperation]]:
        """Return the contents of each list, completed requests included."""
        with self._lock:
            return {key: watchers.requests.copy() for key, watchers in self._lists.items()}

    def _purge_list(self, key: Key) -> int:
        before: list[DelayedOperation] = []
        live: list[DelayedOperation] = []
        with self._lock:
            watchers = self._lists.get(key)
            if watchers is not None:
                before = watchers.requests
                live = [operation for operation in before if not operation._completed]
                self._replace(key, watchers, live)
        # Read here, ``before`` outlives the lock: a finaliser of what goes is user code.
        return len(before) - len(live)

    def _drop(
        self,
        key: Key,
        watchers: _Watchers,
        met: list[DelayedOperation],
        kept: list[DelayedOperation],
        changes: int,
    ) -> None:
        """Leave ``kept`` in a list of what was ``met`` there; what came later stays."""
        with self._lock:
            if self._lists.get(key) is not watchers:
                return
            if watchers.changes == changes:
                left = kept + watchers.requests[len(met) :]
            else:
                left = _without(watchers.requests, met, kept)
            self._replace(key, watchers, left)

    def _replace(self, key: Key, watchers: _Watchers, left: list[DelayedOperation]) -> None:
        """Put a list with fewer entries, or as many, in the place of a list, under the lock."""
        removed = len(watchers.requests) - len(left)
        if removed:
            watchers.requests = left
            watchers.changes += 1
            self._entries -= removed
            if not left:
                del self._lists[key]


def _without(
    requests: list[DelayedOperation],
    met: list[DelayedOperation],
    kept: list[DelayedOperation],
) -> list[DelayedOperation]:
    """Return the requests without those that were met and not kept, one entry for each.

    Another call has changed the list meanwhile; it may have taken out the same entries.
    """
    surplus: dict[int, int] = {}
    for operation in met:
        surplus[id(operation)] = surplus.get(id(operation), 0) + 1
    for operation in kept:
        surplus[id(operation)] -= 1
    left: list[DelayedOperation] = []
    for operation in requests:
        if surplus.get(id(operation), 0) > 0:
            surplus[id(operation)] -= 1
        else:
            left.append(operation)
    return left
