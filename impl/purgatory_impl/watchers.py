"""The watcher lists: for each key, the operations that wait under it, oldest first.

    shard.lists[key] -> WatcherList, see ``chunks``; gone through by a Walk, see ``walks``

The lists are spread over *shards* by the hash of the key. A shard is a dictionary and a lock, and
the lock guards its lists and their chunks. Each hold takes a bounded number of steps, those of a
few chunks, but for the copy of the dictionary's values with which a purge begins. No user code runs
under it but the ``__hash__`` and ``__eq__`` of keys, which the dictionary calls. An operation that
leaves a list is let go of outside the lock, and so is its key, because a finaliser is user code.

Invariant: a list is in its dictionary, and its length is not zero, exactly as long as it has
entries. A list that has left its dictionary never comes back.
"""

from __future__ import annotations

import threading
from typing import Generic

from purgatory_impl.chunks import Key as Key
from purgatory_impl.chunks import WatcherList
from purgatory_impl.delayed_operation import DelayedOperation
from purgatory_impl.exclusion import SectionLock, pure, refused_after_fork
from purgatory_impl.task import COMPILED


class Shard(Generic[Key]):
    """The lists of those keys whose hash leads here.

    Attributes:
        entries: The sum of the lengths of its lists.
    """

    __slots__ = ("__weakref__", "_token", "entries", "lists", "lock")

    def __init__(self) -> None:
        self.lock = SectionLock() if COMPILED else pure(threading.Lock())
        self._token = refused_after_fork(self, self.lock)
        self.lists: dict[Key, WatcherList[Key]] = {}
        self.entries = 0

    def append(self, key: Key, operation: DelayedOperation) -> None:
        """Put an operation at the end of a key's list.

        Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS.
        """
        with self.lock:
            watched = self.lists.get(key)
            if watched is None:
                watched = WatcherList(key)
                watched.append(operation)
                self.lists[key] = watched
            else:
                watched.append(operation)
            self.entries += 1

    def detach(self, key: Key) -> list[DelayedOperation]:
        """Take a key's list away; entries of it are no longer found by walks and purges.

        Returns:
            The operations in the order of the list, as often as they were in it.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES.
        """
        with self.lock:
            watched = self.lists.pop(key, None)
            if watched is None:
                return []
            self.entries -= watched.length
            watched.length = 0
        return watched.take_apart()

    def all_lists(self) -> list[WatcherList[Key]]:
        """Return a snapshot of the shard's lists, taken under the lock."""
        if not self.lists:
            return []
        with self.lock:
            return list(self.lists.values())

    def empty_lists_of_one(self, lists: list[WatcherList[Key]]) -> int:
        """Empty those lists whose one entry is of a completed operation, in one hold.

        Returns:
            How many there were.

        Rules: PURGATORY-PURGE-REMOVES.
        """
        # They are let go of after the lock.
        removed: list[DelayedOperation] = []
        with self.lock:
            for watched in lists:
                only = watched.only
                if only is not None and only._completed and watched.length == 1:
                    removed.append(only)
                    watched.only = None
                    self.count_out(watched, 1)
        return len(removed)

    def count_out(self, watched: WatcherList[Key], entries: int) -> None:
        """Make a list shorter, and forget it where it is empty; the caller holds the lock.

        Rules: PURGATORY-EMPTY-LISTS, PURGATORY-ENTRIES.
        """
        self.entries -= entries
        watched.length -= entries
        if watched.length == 0:
            self.forget(watched)

    def forget(self, watched: WatcherList[Key]) -> None:
        """Take an empty list out of the dictionary; the caller holds the lock, and the list."""
        del self.lists[watched.key]
