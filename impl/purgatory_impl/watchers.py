"""The watcher lists: for each key, the operations that wait under it, oldest first.

    shard.lists[key] -> WatcherList: first -> entry <-> entry <-> entry <- last

The lists are spread over *shards* by the hash of the key. A shard is a dictionary and a lock, and
the lock guards its lists and their entries. Each hold takes a bounded number of steps, and no user
code runs under it but the ``__hash__`` and ``__eq__`` of keys, which the dictionary calls. An
operation that leaves a list is let go of outside the lock, because a finaliser is user code.

Invariant: a list is in its dictionary, and *attached*, exactly as long as it has entries.

Walking needs no copy of the list and no lock between two steps. An entry that is taken out keeps
its way forward (``next``), so that a walk that stands on it finds back to those that are still in.
Entries are numbered, and a walk goes no further than the last one that was there when it began.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from purgatory_impl.exclusion import COMPILED, SectionLock, pure

if TYPE_CHECKING:
    from purgatory_impl.delayed_operation import DelayedOperation

Key = TypeVar("Key", bound=Hashable)

STEPS_PER_HOLD: Final = 256


class Shard(Generic[Key]):
    """The lists of those keys whose hash leads here.

    Attributes:
        entries: The sum of the lengths of its lists.
    """

    __slots__ = ("entries", "lists", "lock")

    def __init__(self) -> None:
        self.lock = SectionLock() if COMPILED else pure(threading.Lock())
        self.lists: dict[Key, WatcherList[Key]] = {}
        self.entries = 0

    def append(self, key: Key, operation: DelayedOperation) -> None:
        """Put an operation at the end of a key's list.

        Rules: PURGATORY-WATCH-WAITS, PURGATORY-DUPLICATE-KEYS.
        """
        with self.lock:
            watched = self.lists.get(key)
            if watched is None:
                watched = self.lists[key] = WatcherList(self, key)
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
            watched.attached = False
            self.entries -= watched.length
        operations: list[DelayedOperation] = []
        entry = watched.first
        # Nobody changes a detached list any more. Leave no circle of links behind.
        watched.first = watched.last = None
        while entry is not None:
            operations.append(entry.operation)
            entry.previous = None
            entry = entry.next
        return operations

    def walk(self, key: Key) -> Walk[Key]:
        """A walk over a key's list as it is now."""
        with self.lock:
            return Walk(self, key, self.lists.get(key))

    def all_walks(self) -> list[Walk[Key]]:
        """A walk over each list that there is now."""
        if not self.lists:
            return []
        with self.lock:
            return [Walk(self, key, watched) for key, watched in self.lists.items()]


class WatcherList(Generic[Key]):
    """The entries of one key."""

    __slots__ = ("appended", "attached", "first", "key", "last", "length", "shard")

    def __init__(self, shard: Shard[Key], key: Key) -> None:
        self.shard = shard
        self.key = key
        self.attached = True
        self.appended = 0
        self.length = 0
        self.first: Entry[Key] | None = None
        self.last: Entry[Key] | None = None

    def append(self, operation: DelayedOperation) -> None:
        """Add an entry at the end; the caller holds the lock."""
        self.appended += 1
        entry = Entry(self, self.appended, operation)
        last = self.last
        if last is None:
            self.first = entry
        else:
            last.next = entry
            entry.previous = last
        self.last = entry
        self.length += 1

    def remove(self, entry: Entry[Key]) -> bool:
        """Take an entry out; the caller holds the lock.

        Returns:
            False where it is already out, alone or with its whole list.

        Rules: PURGATORY-EMPTY-LISTS, PURGATORY-ENTRIES.
        """
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
        if self.length == 0:
            self.attached = False
            del self.shard.lists[self.key]
        return True


class Entry(Generic[Key]):
    """The place of an operation in one list; an operation may have several in the same list."""

    __slots__ = ("linked", "next", "number", "operation", "owner", "previous")

    def __init__(self, owner: WatcherList[Key], number: int, operation: DelayedOperation) -> None:
        self.owner = owner
        self.number = number
        self.operation = operation
        self.linked = True
        self.next: Entry[Key] | None = None
        self.previous: Entry[Key] | None = None

    def drop(self) -> int:
        """Take the entry out of its list.

        Returns:
            1, or 0 where it was out already.
        """
        with self.owner.shard.lock:
            return int(self.owner.remove(self))


class Walk(Generic[Key]):
    """A way through one list, from its first entry to the last one that was there at the start.

    A walk may be the last who knows an entry that somebody else has taken out, and its operation.
    So it keeps what it has passed until it has let go of the lock.
    """

    __slots__ = ("_cursor", "_end", "_list", "_passed", "_shard", "_tried", "key")

    def __init__(self, shard: Shard[Key], key: Key, watched: WatcherList[Key] | None) -> None:
        self.key = key
        self._shard = shard
        self._list = watched
        self._cursor = None if watched is None else watched.first
        self._end = 0 if watched is None else watched.appended
        self._tried: Entry[Key] | None = None
        self._passed: list[Entry[Key]] = []

    def next_live(self) -> tuple[Entry[Key] | None, int]:
        """Go on to the next entry of an operation that is not completed.

        Entries of completed operations are removed on the way, that of the operation returned
        last included.

        Returns:
            The entry, or None at the end, and how many entries were removed.

        Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED.
        """
        dropped = 0
        entry = None
        while True:
            self._passed.clear()
            with self._shard.lock:
                for _ in range(STEPS_PER_HOLD):
                    entry = self._present()
                    if entry is None:
                        return None, dropped
                    dropped += self._drop_if_completed(entry)
                    if entry.linked and entry is not self._tried:
                        self._tried = entry
                        return entry, dropped
                    self._go_on(entry)
            entry = None

    def sweep(self) -> int:
        """Remove all entries of completed operations from here on.

        Returns:
            How many were removed.

        Rules: PURGATORY-PURGE-REMOVES.
        """
        dropped = 0
        entry = None
        while True:
            self._passed.clear()
            with self._shard.lock:
                for _ in range(STEPS_PER_HOLD):
                    entry = self._present()
                    if entry is None:
                        return dropped
                    dropped += self._drop_if_completed(entry)
                    self._go_on(entry)
            entry = None

    def next_operations(self) -> list[DelayedOperation]:
        """The operations of the next entries, removing none; an empty list at the end."""
        operations: list[DelayedOperation] = []
        self._passed.clear()
        with self._shard.lock:
            while len(operations) < STEPS_PER_HOLD:
                entry = self._present()
                if entry is None:
                    break
                if entry.linked:
                    operations.append(entry.operation)
                self._go_on(entry)
        return operations

    def _present(self) -> Entry[Key] | None:
        """The entry that the walk stands on; None where it is at its end."""
        entry = self._cursor
        if entry is None or self._list is None or not self._list.attached:
            return None
        return entry if entry.number <= self._end else None

    def _drop_if_completed(self, entry: Entry[Key]) -> int:
        """Take an entry out if its operation is completed; 1, or 0 where it stays or was out."""
        return int(entry.operation.is_completed and entry.owner.remove(entry))

    def _go_on(self, entry: Entry[Key]) -> None:
        """Stand on the entry behind the one that the walk stands on."""
        if not entry.linked:
            self._passed.append(entry)
        self._tried = None
        self._cursor = entry.next
