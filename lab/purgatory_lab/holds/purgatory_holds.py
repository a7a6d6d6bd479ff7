"""The holds of the watcher lists: a purge, and a check of one key.

A purge is driven here as ``sweep_shard`` drives it, and a check of stale entries as ``Walk`` does:
a hold goes through one chunk. A *place* is a step: each place of the chunk, and each entry that
moves to another chunk.

The collector runs when one object too many is made, be it in a hold. A purge alone lets go of more
than it makes. So some are made here before each list and kept, as others do in a program: then the
one too many is now and then a walk, which is made under the lock.
"""

from __future__ import annotations

import random
from typing import Final

from purgatory_lab.holds.stopwatch import Section, Stopwatch, Stopwatches
from purgatory_impl import DelayedOperation
from purgatory_impl.walks import Walk, walk_over, walk_under
from purgatory_impl.watcher_lists import WatcherLists

PLACES_BOUND: Final = 2 * 128
"""Places of one hold, as documented: those of a chunk, and as many entries that move."""

FEWER_KEYS: Final = 1000
ENTRIES_OF_KEY: Final = 10
LIVE: Final = 8
"""Of so many entries one is live, where some are."""

_MOST_MADE: Final = 16


def _purge(name: str) -> Section:
    return Section(f"purge, {name}: a chunk", "shard", "places", PLACES_BOUND)


def _copy(name: str) -> Section:
    return Section(f"purge, {name}: copy of the lists", "shard", "lists", None)


_FEWER, _MORE = f"{FEWER_KEYS:,} keys", f"{ENTRIES_OF_KEY} entries a key"
ONE_KEY: Final = _purge("1 key")
ONE_KEY_LIVE: Final = _purge(f"1 key, 1 of {LIVE} live")
FEWER: Final = _purge(_FEWER)
FEWER_LISTS: Final = _copy(_FEWER)
MORE: Final = _purge(_MORE)
MORE_LISTS: Final = _copy(_MORE)
CHECK_STALE: Final = Section("check, all stale: a chunk", "shard", "places", PLACES_BOUND)
CHECK_LIVE: Final = Section("check, all completed by it: an entry", "shard", "places", PLACES_BOUND)


class LostEntries(Exception):
    """The entries removed are not the stale entries: the holds measured are no purge's."""


class Waiting(DelayedOperation):
    """An operation that can be completed at any time."""

    def try_complete(self) -> bool:
        """Complete it."""
        return self.force_complete()


class PurgatoryHolds:
    """A number of entries, and how the lists are rid of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._stale: list[DelayedOperation] = [Waiting(1) for _ in range(size)]
        for operation in self._stale:
            operation.force_complete()
        live = Waiting(1)
        self._mixed = [
            operation if place % LIVE else live for place, operation in enumerate(self._stale)
        ]

    def measure(self, watches: Stopwatches) -> None:
        """Measure all sections once."""
        one = watches.of(ONE_KEY)
        self._purge(self._stale, 1, one, None)
        self._purge(self._mixed, 1, watches.of(ONE_KEY_LIVE), None)
        self._purge(self._stale, FEWER_KEYS, watches.of(FEWER), watches.of(FEWER_LISTS))
        keys = max(1, self._size // ENTRIES_OF_KEY)
        self._purge(self._stale, keys, watches.of(MORE), watches.of(MORE_LISTS))
        self._check_stale(watches.of(CHECK_STALE))
        self._check_live(watches.of(CHECK_LIVE))

    def _purge(
        self,
        operations: list[DelayedOperation],
        keys: int,
        chunks: Stopwatch,
        copies: Stopwatch | None,
    ) -> None:
        lists = _watched(operations, keys)
        stale = sum(operation.is_completed for operation in operations)
        removed = 0
        made: list[set[object]] = []
        draws = random.Random(1)
        for shard in lists.shards:
            found = shard.all_lists() if copies is None else copies.timed(shard.all_lists)
            if copies is not None:
                copies.count(len(found))
            for watched in found:
                made += [set() for _ in range(draws.randrange(_MOST_MADE))]
                walk = chunks.timed(walk_over, shard, watched)
                removed += _removed_by(walk, chunks, True)
        _expect(removed, stale)
        _expect(lists.entries, len(operations) - stale)

    def _check_stale(self, watch: Stopwatch) -> None:
        lists = _watched(self._stale, 1)
        walk = watch.timed(walk_under, lists.shard_of(0), 0)
        if walk is not None:
            _expect(_removed_by(walk, watch, False), self._size)
        _expect(lists.entries, 0)

    def _check_live(self, watch: Stopwatch) -> None:
        lists = _watched([Waiting(1) for _ in range(self._size)], 1)
        walk = watch.timed(walk_under, lists.shard_of(0), 0)
        while walk is not None:
            operation, _ = walk.next_live()
            if operation is None:
                break
            operation.force_complete()
            watch.count(watch.timed(walk.drop))
        _expect(lists.entries, 0)


def _watched(operations: list[DelayedOperation], keys: int) -> WatcherLists[int]:
    """Lists of all operations, which take turns between the keys."""
    lists: WatcherLists[int] = WatcherLists()
    for place, operation in enumerate(operations):
        key = place % keys
        lists.shard_of(key).append(key, operation)
    return lists


def _removed_by(walk: Walk[int], watch: Stopwatch, passes_live: bool) -> int:
    """Go to the end of a walk, hold by hold; how many entries were removed."""
    removed = 0
    while not walk._over:
        chunk = walk._chunk
        here: list[DelayedOperation] = []
        watch.timed(walk._remove_in_hold, here, passes_live)
        removed += len(here)
        places = 1 if chunk is None else len(chunk.operations)
        if chunk is not None and chunk.moved_to is not None:
            places += places - chunk.removed
        watch.count(places)
        walk._left = None
    return removed


def _expect(entries: int, expected: int) -> None:
    if entries != expected:
        raise LostEntries(f"{entries:,} entries instead of {expected:,}")
