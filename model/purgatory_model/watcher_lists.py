"""Watcher lists in the middle of a call, when entries must be told apart.

Between calls a list is a sequence of names. During a call a callback may append to a list that is
being walked, take entries out of it, or take it away as a whole and begin another one under the
same key. So that a walk knows which entries it found, each entry has a number while a call is under
way; numbers grow, and the oldest entry has the smallest. A list that has become empty is gone.
"""

from dataclasses import dataclass, replace

from immutables import Map

Names = Map[str, tuple[str, ...]]
"""The lists between calls: for each key the operations, oldest entry first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in a watcher list."""

    number: int
    operation: str


@dataclass(frozen=True, slots=True)
class WatcherLists:
    """The lists by their keys; ``numbered`` is how many entries were ever told apart."""

    lists: Map[str, tuple[Entry, ...]] = Map()
    numbered: int = 0

    def of(self, key: str) -> tuple[Entry, ...]:
        """The entries under a key, the oldest first; empty where there is no list."""
        return self.lists.get(key, ())

    def watches(self, operation: str) -> bool:
        """Whether an operation has an entry in any list."""
        return any(
            entry.operation == operation for entries in self.lists.values() for entry in entries
        )

    def append(self, key: str, operation: str) -> "WatcherLists":
        """A new entry at the end of the list. Rules: PURGATORY-DUPLICATE-KEYS."""
        entries = (*self.of(key), Entry(self.numbered, operation))
        return WatcherLists(self.lists.set(key, entries), self.numbered + 1)

    def drop(self, key: str, entry: Entry) -> "WatcherLists":
        """Without one entry, which need not be there. Rules: PURGATORY-EMPTY-LISTS."""
        entries = tuple(other for other in self.of(key) if other != entry)
        if not entries:
            return self.detach(key)
        return replace(self, lists=self.lists.set(key, entries))

    def detach(self, key: str) -> "WatcherLists":
        """Without the list of a key, which need not be there."""
        if key not in self.lists:
            return self
        return replace(self, lists=self.lists.delete(key))

    def names(self) -> Names:
        """The lists as they are between calls."""
        return Map(
            {
                key: tuple(entry.operation for entry in entries)
                for key, entries in self.lists.items()
            }
        )


def numbered(names: Names) -> WatcherLists:
    """Lists whose entries are told apart; the numbers of different keys say nothing."""
    lists = WatcherLists()
    for key in sorted(names):
        for operation in names[key]:
            lists = lists.append(key, operation)
    return lists


def swept(names: Names, completed: frozenset[str]) -> Names:
    """What a purge leaves. Rules: PURGATORY-PURGE-REMOVES, PURGATORY-EMPTY-LISTS."""
    left = {
        key: tuple(name for name in entries if name not in completed)
        for key, entries in names.items()
    }
    return Map({key: entries for key, entries in left.items() if entries})
