"""The watcher lists as counts: how long each list is, and what in it is stale, without the lists.

A walk visits every entry of a list and a purge visits every entry of all lists, and what either
leaves behind follows from what was completed: no entry has to be touched to know how many would
be. Each request that is watched is a number, counted up from 0, and belongs to one layout of keys.

A *walk* is that of a request's event, through the list of the request's event key. *Fresh*
operations are stale ones that were completed since the last collection of garbage; only weak
references ask for them.
"""

from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict

from purgatory_lab.studies.key_layouts import KeyLayout, Layout


class WatcherCounts(ABC):
    """The operations that a design needs of watcher lists.

    Attributes:
        entries: The sum of the lengths of all lists.
        stale_entries: The entries of completed operations.
        stale_operations: Completed operations in some list.
    """

    def __init__(self, keys: int) -> None:
        """Begin without a request; each will have so many keys."""
        self.entries = self.stale_entries = self.stale_operations = 0
        self._keys = keys
        self._fresh: set[int] = set()

    @abstractmethod
    def watch(self) -> None:
        """Put the next request into the list of each of its keys."""

    @abstractmethod
    def complete(self, request: int) -> None:
        """Let all entries of a request be stale from now on."""

    def unlink(self, request: int) -> int:
        """Take a request that is not completed out of all its lists; how many those are."""
        self.entries -= self._keys
        return self._keys

    @abstractmethod
    def walk(self, request: int) -> int:
        """Walk the list of a request's event key and drop what is stale; entries visited."""

    def purge(self) -> None:
        """Drop all stale entries; every entry is visited."""
        self._fresh.clear()
        self.entries -= self.stale_entries
        self.stale_entries = self.stale_operations = 0

    def collect(self) -> int:
        """Let no stale operation be fresh any more; how many were."""
        fresh = len(self._fresh)
        self._fresh.clear()
        return fresh


def watcher_counts(layout: Layout, keys: int, key_space: int, seed: int) -> WatcherCounts:
    """Return the lists of a layout, as counts."""
    chosen = KeyLayout(layout, keys, key_space, seed)
    if layout == "shared":
        return SharedLists(chosen)
    return OwnLists(keys) if layout == "own" else DrawnLists(chosen)


class DrawnLists(WatcherCounts):
    """Lists of keys that were drawn: a number of live entries and the stale ones for each key."""

    def __init__(self, layout: KeyLayout) -> None:
        super().__init__(layout.keys)
        self._layout = layout
        self._keys_of_requests = array("i")
        self._live: dict[int, int] = {}
        self._stale: dict[int, list[int]] = {}
        self._left: dict[int, int] = {}

    def watch(self) -> None:
        """Put the next request into the list of each of its keys, the event's key first."""
        keys, _ = self._layout.next()
        live = self._live
        self._keys_of_requests.extend(keys)
        for key in keys:
            live[key] = live.get(key, 0) + 1
        self.entries += self._keys

    def complete(self, request: int) -> None:
        """Move the request's entries from the live to the stale ones."""
        live, stale = self._live, self._stale
        for key in self._keys_of(request):
            live[key] -= 1
            if key in stale:
                stale[key].append(request)
            else:
                stale[key] = [request]
        self._left[request] = self._keys
        self._fresh.add(request)
        self.stale_entries += self._keys
        self.stale_operations += 1

    def unlink(self, request: int) -> int:
        """Take the live entries away."""
        for key in self._keys_of(request):
            self._live[key] -= 1
        return super().unlink(request)

    def walk(self, request: int) -> int:
        """Drop the stale entries of one key."""
        key = self._keys_of_requests[request * self._keys]
        stale = self._stale.pop(key, ())
        left = self._left
        for operation in stale:
            if left[operation] > 1:
                left[operation] -= 1
            else:
                del left[operation]
                self._fresh.discard(operation)
        self.entries -= len(stale)
        self.stale_entries -= len(stale)
        self.stale_operations = len(left)
        return self._live[key] + len(stale)

    def purge(self) -> None:
        """Drop the stale entries of all keys."""
        self._stale.clear()
        self._left.clear()
        super().purge()

    def _keys_of(self, request: int) -> "array[int]":
        return self._keys_of_requests[request * self._keys : (request + 1) * self._keys]


class SharedLists(WatcherCounts):
    """Lists that all hold the same operations; they differ in when they were last walked.

    What is stale under a key are the operations completed since its last walk. Keys are kept in
    the order of their last walks, so the first has the most of them.
    """

    def __init__(self, layout: KeyLayout) -> None:
        super().__init__(layout.keys)
        self._layout = layout
        self._event_keys = array("i")
        self._live = 0
        self._completed = 0
        self._completed_at_walk: OrderedDict[int, int] = OrderedDict()
        self._completed_at_purge = 0
        self._completed_at_collection = 0

    def watch(self) -> None:
        """Add an entry to each list of the next request."""
        self._event_keys.append(self._layout.next().event_key)
        self._live += 1
        self.entries += self._keys

    def complete(self, request: int) -> None:
        """Count an entry as stale in each list of the request."""
        self._live -= 1
        self._completed += 1
        self.stale_entries += self._keys
        self.stale_operations += 1

    def unlink(self, request: int) -> int:
        """Remove an entry from each list, and return the number of steps."""
        self._live -= 1
        return super().unlink(request)

    def walk(self, request: int) -> int:
        """Drop what was completed since the last walk of this key."""
        key = self._event_keys[request]
        at_walk = self._completed_at_walk
        stale = self._completed - at_walk.get(key, self._completed_at_purge)
        at_walk[key] = self._completed
        at_walk.move_to_end(key)
        self.entries -= stale
        self.stale_entries -= stale
        self.stale_operations = self._completed - self._oldest_walk()
        return self._live + stale

    def purge(self) -> None:
        """Walk every list and drop its stale entries."""
        self._completed_at_walk.clear()
        self._completed_at_purge = self._completed
        super().purge()

    def collect(self) -> int:
        """Return the number of operations completed since the last collection and still listed."""
        fresh = self._completed - max(self._completed_at_collection, self._oldest_walk())
        self._completed_at_collection = self._completed
        return fresh

    def _oldest_walk(self) -> int:
        """Return the number of completions at the oldest last walk of a list, or at a purge."""
        at_walk = self._completed_at_walk
        if len(at_walk) < self._keys:
            return self._completed_at_purge
        return next(iter(at_walk.values()))


class OwnLists(WatcherCounts):
    """Lists of one operation each."""

    def __init__(self, keys: int) -> None:
        super().__init__(keys)
        self._stale: set[int] = set()

    def watch(self) -> None:
        """Add as many new lists as keys."""
        self.entries += self._keys

    def complete(self, request: int) -> None:
        """Count all lists of the request as stale."""
        self._stale.add(request)
        self._fresh.add(request)
        self.stale_entries += self._keys
        self.stale_operations += 1

    def walk(self, request: int) -> int:
        """Drop the only entry of a list, if stale."""
        if request not in self._stale:
            return 0
        self.entries -= 1
        self.stale_entries -= 1
        if self._keys == 1:
            self._stale.remove(request)
            self._fresh.discard(request)
            self.stale_operations -= 1
        return 1

    def purge(self) -> None:
        """Drop all stale lists."""
        self._stale.clear()
        super().purge()
