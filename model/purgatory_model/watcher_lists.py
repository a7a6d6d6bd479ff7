"""Watcher lists in the middle of a call, when entries must be told apart.

Between calls a list is a sequence of names. During a call a callback may append to a list that is
being walked, take entries out of it, or take it away as a whole and begin another one under the
same key. So that a walk knows which entries it found, each entry has a number while a call is under
way; in a list they grow, and the oldest entry has the smallest. What the call has found has
numbers below zero, counted from the end of its list, and so needs none before it is looked at; what
the call adds is counted from zero. A list that has become empty is gone.
"""

from functools import lru_cache
from typing import NamedTuple

import msgspec
from immutables import Map

from purgatory_model.replacing import replace

Names = Map[str, tuple[str, ...]]
"""The lists between calls: for each key the operations, oldest entry first."""


class Entry(NamedTuple):
    """An entry in a watcher list."""

    number: int
    operation: str


class WatcherLists(msgspec.Struct, frozen=True):
    """The lists in the middle of a call.

    ``found`` are the lists at the start of the call, ``changed`` the lists that the call has
    changed since, and ``added`` counts the entries that the call has added.
    """

    found: Names = Map()
    changed: Map[str, tuple[Entry, ...]] = Map()
    added: int = 0

    def of(self, key: str) -> tuple[Entry, ...]:
        """Return the entries under a key, the oldest first; empty where there is no list."""
        entries = self.changed.get(key)
        return _entries(self.found.get(key, ())) if entries is None else entries

    def watches(self, operation: str) -> bool:
        """Decide whether an operation has an entry in any list."""
        return any(
            entry.operation == operation for entries in self.changed.values() for entry in entries
        ) or any(operation in names for key, names in self.found.items() if key not in self.changed)

    def append(self, key: str, operation: str) -> "WatcherLists":
        """Return the lists with a new entry at a list's end. Rules: PURGATORY-DUPLICATE-KEYS."""
        entries = (*self.of(key), Entry(self.added, operation))
        return WatcherLists(self.found, self.changed.set(key, entries), self.added + 1)

    def drop(self, key: str, entry: Entry) -> "WatcherLists":
        """Return the lists without an entry, which may be absent. Rules: PURGATORY-EMPTY-LISTS."""
        entries = tuple(other for other in self.of(key) if other != entry)
        if not entries:
            return self.detach(key)
        return replace(self, changed=self.changed.set(key, entries))

    def detach(self, key: str) -> "WatcherLists":
        """Return the lists without the list of a key, which need not be there."""
        if not self.of(key):
            return self
        return replace(self, changed=self.changed.set(key, ()))

    def names(self) -> Names:
        """Return the lists as they are between calls."""
        names = self.found
        for key, entries in self.changed.items():
            if entries:
                names = names.set(key, tuple(entry.operation for entry in entries))
            elif key in names:
                names = names.delete(key)
        return names


@lru_cache(maxsize=256)  # A walk looks at the same list again at every entry.
def _entries(names: tuple[str, ...]) -> tuple[Entry, ...]:
    """Return the entries that a call finds in a list, numbered from its end."""
    return tuple(Entry(place - len(names), name) for place, name in enumerate(names))


def swept(names: Names, completed: frozenset[str]) -> Names:
    """Return the lists after a purge. Rules: PURGATORY-PURGE-REMOVES, PURGATORY-EMPTY-LISTS."""
    left = {
        key: tuple(name for name in entries if name not in completed)
        for key, entries in names.items()
    }
    return Map({key: entries for key, entries in left.items() if entries})


def without_order(names: Names) -> Names:
    """Return lists whose order cannot be seen, each in alphabetical order."""
    for key, entries in names.items():
        ordered = tuple(sorted(entries))
        if ordered != entries:
            names = names.set(key, ordered)
    return names
