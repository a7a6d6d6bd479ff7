"""The walk: the way of a check, or of a purge, through one list.

A walk needs no copy of the list and no lock between two steps. It looks for the next operation
without the lock, and may do so because of this:

    An entry of an operation that is not completed leaves its list only with the whole list.

So an operation that is found in a chunk, be that moved or not, and that is not completed, is in the
list, unless the length of the list is zero after that. What is tried in vain costs no hold.

Under the lock a walk first replaces its current chunk and its last chunk, where they have moved, by
the chunks that hold the entries now. It removes a run of stale entries in one hold, of a chunk at
most; what it removes and what it has left behind is let go of after the hold, because a finaliser
is user code.
"""

from __future__ import annotations

import time
from typing import Final, Generic

from purgatory_impl.chunks import CHUNK, Chunk, Key, WatcherList
from purgatory_impl.delayed_operation import DelayedOperation, Place
from purgatory_impl.watchers import Shard

TURN_S: Final = 0.004
"""The time that a purge goes on before it lets other threads run, s.

A turn that is given away may last for the interpreter's switch interval, 5 ms: with shorter turns
of its own, a purge beside a busy thread would wait for most of its time.
"""

_GLANCE: Final = 4 * CHUNK
"""The number of entries after which a purge looks at the clock."""


class Pace:
    """The number of entries that a purge has looked at, and the moment at which it gives way.

    Attributes:
        looked_at: How many entries.
    """

    __slots__ = ("_glance_at", "_turn_ends", "looked_at")

    def __init__(self) -> None:
        self.looked_at = 0
        self._glance_at = _GLANCE
        self._turn_ends = time.perf_counter() + TURN_S

    def count(self, entries: int) -> None:
        """Count entries that were looked at, and give way in time; the caller holds no lock."""
        self.looked_at += entries
        if self.looked_at >= self._glance_at:
            self._glance_at = self.looked_at + _GLANCE
            if time.perf_counter() >= self._turn_ends:
                time.sleep(0)
                self._turn_ends = time.perf_counter() + TURN_S


class Walk(Place, Generic[Key]):
    """The pass of a check or a purge through one list, up to the end of the list at the start.

    It stands on a place of a chunk. While an operation is tried, the walk is its place: ``drop``
    takes out the entry of the operation returned last.
    """

    __slots__ = (
        "_chunk",
        "_end",
        "_index",
        "_last",
        "_left",
        "_limit",
        "_list",
        "_looked_at",
        "_operations",
        "_over",
        "_removed",
        "_shard",
        "_tried",
    )

    def __init__(self, shard: Shard[Key], watched: WatcherList[Key]) -> None:
        """Begin; the caller holds the lock of the shard."""
        self._shard = shard
        self._list = watched
        # Moved chunks that the walk has left for their successors; let go of after the lock.
        self._left: tuple[Chunk, Chunk] | None = None
        self._over = False
        self._tried = False
        self._removed = False
        # Entries that the last hold has met.
        self._looked_at = 0
        # The current chunk and index, and the first index of the chunk beyond the walk.
        self._chunk = watched.first
        self._index = 0
        self._limit = 1
        # The last chunk at the start, and the first index of that chunk beyond the walk.
        self._last = watched.last
        self._end = 1
        self._operations: list[DelayedOperation | None]
        if self._chunk is None or self._last is None:
            self._operations = [watched.only]
        else:
            self._operations = self._chunk.operations
            self._end = len(self._last.operations)
            self._limit = self._limit_of(self._chunk)

    def next_live(self) -> tuple[DelayedOperation | None, int]:
        """Go on to the next entry of an operation that is not completed.

        Entries of completed operations are removed on the way, that of the operation returned
        last included.

        Returns:
            The operation, or None at the end, and how many entries were removed.

        Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED.
        """
        watched = self._list
        if self._tried:
            self._tried = False
            tried = self._operations[self._index]
            if tried is None or not tried._completed:
                self._index += 1
        removed = 0
        while True:
            operations = self._operations
            index = self._index
            limit = self._limit
            while index < limit:
                operation = operations[index]
                if operation is not None:
                    if operation._completed:
                        break
                    if watched.length == 0:
                        return None, removed
                    self._index = index
                    self._tried = True
                    return operation, removed
                index += 1
            self._index = index
            if self._over or watched.length == 0 or (index == limit and self._has_no_more()):
                return None, removed
            removed += self._go_on(False)

    def drop(self) -> int:
        """Take the entry out of the operation that was returned last.

        Returns:
            The number of entries taken out: 1, or 0 if the entry was gone.
        """
        while True:
            with self._shard.lock:
                if self._list.length == 0:
                    return 0
                if not self._follow():
                    return self._drop_here()
            self._left = None

    def sweep(self, pace: Pace | None = None) -> int:
        """Remove all entries of completed operations from here on.

        Args:
            pace: Counts what is looked at, chunk by chunk; a fresh one when absent.

        Returns:
            How many were removed.

        Rules: PURGATORY-PURGE-REMOVES.
        """
        removed = 0
        counts = Pace() if pace is None else pace
        while not self._over:
            self._looked_at = 0
            removed += self._go_on(True)
            counts.count(self._looked_at)
        return removed

    def next_operations(self) -> list[DelayedOperation]:
        """Return the operations of the next entries, removing none; an empty list at the end."""
        operations: list[DelayedOperation] = []
        while not (operations or self._over):
            with self._shard.lock:
                if self._list.length == 0:
                    self._over = True
                elif not self._follow():
                    chunk = self._chunk
                    limit = 1 if chunk is None else self._limit_of(chunk)
                    here = self._operations[self._index : limit]
                    operations = [each for each in here if each is not None]
                    self._leave(None if chunk is None else chunk.next)
            self._left = None
        return operations

    def _has_no_more(self) -> bool:
        """Decide whether the present chunk ends the walk, with nothing left to do."""
        return self._chunk is None or (self._chunk is self._last and not self._removed)

    def _go_on(self, passes_live: bool) -> int:
        """Remove entries of completed operations from the chunk, and leave it at its end.

        Args:
            passes_live: Whether to go past those that are not completed.

        Returns:
            How many were removed.
        """
        # They are let go of after the lock.
        removed: list[DelayedOperation] = []
        with self._shard.lock:
            self._remove_in_hold(removed, passes_live)
        self._left = None
        return len(removed)

    def _remove_in_hold(self, removed: list[DelayedOperation], passes_live: bool) -> None:
        if self._list.length == 0:
            self._over = True
        elif self._chunk is None:
            self._remove_only(removed)
        elif not self._follow():
            self._remove_here(self._chunk, removed, passes_live)

    def _follow(self) -> bool:
        """Go where the chunks have moved that the walk stands on and ends in, one move each.

        Returns:
            False where neither has moved; in between the lock is let go of.
        """
        chunk, last = self._chunk, self._last
        if chunk is None or last is None or (chunk.moved_to is None and last.moved_to is None):
            return False
        self._left = (chunk, last)
        self._limit = -1
        if last.moved_to is not None:
            self._end = last.moved(self._end)
            self._last = last.moved_to
        if chunk.moved_to is not None:
            if self._tried and chunk.operations[self._index] is None:
                # Taken out before that, and so it is nowhere.
                self._tried = False
            self._index = chunk.moved(self._index)
            self._chunk = chunk.moved_to
            self._operations = chunk.moved_to.operations
        return True

    def _drop_here(self) -> int:
        operation = self._operations[self._index] if self._tried else None
        if operation is None:
            return 0
        if self._chunk is not None:
            self._list.take(self._chunk, self._index)
        elif not self._list.take_oldest(operation):
            return 0
        self._removed = True
        self._shard.count_out(self._list, 1)
        return 1

    def _remove_only(self, removed: list[DelayedOperation]) -> None:
        """Remove what was the only entry at the start, if it is completed and still there."""
        operation = self._operations[0] if self._index == 0 else None
        self._over = True
        self._looked_at = 1
        if operation is not None and operation._completed and self._list.take_oldest(operation):
            removed.append(operation)
            self._shard.count_out(self._list, 1)

    def _remove_here(
        self, chunk: Chunk, removed: list[DelayedOperation], passes_live: bool
    ) -> None:
        operations = self._operations
        after = chunk.next
        start = self._index
        self._limit = limit = self._limit_of(chunk)
        self._looked_at = len(operations) - chunk.removed
        if passes_live:
            self._index = limit
            for index in _places_of_completed(operations):
                operation = operations[index]
                if operation is not None and start <= index < limit:
                    removed.append(operation)
                    operations[index] = None
        else:
            self._index = _empty_until_live(operations, start, limit, removed)
        if removed:
            self._removed = True
            self._list.count_removed(chunk, len(removed))
            self._shard.count_out(self._list, len(removed))
        if self._index >= limit:
            if chunk.removed < len(operations):
                self._list.put_in_order(chunk)
            self._leave(after)

    def _leave(self, after: Chunk | None) -> None:
        """Stand on the first place of the next chunk, unless the walk ends here."""
        if after is None or self._chunk is self._last:
            self._over = True
            return
        self._chunk = after
        self._operations = after.operations
        self._index = 0
        self._limit = self._limit_of(after)

    def _limit_of(self, chunk: Chunk) -> int:
        """Return the first place of a chunk that the walk does not come to."""
        return self._end if chunk is self._last else len(chunk.operations)


def walk_under(shard: Shard[Key], key: Key) -> Walk[Key] | None:
    """Return a walk over a key's list as it is now; None where there is no list."""
    with shard.lock:
        watched = shard.lists.get(key)
        return None if watched is None else Walk(shard, watched)


def walk_over(shard: Shard[Key], watched: WatcherList[Key]) -> Walk[Key]:
    """Return a walk over a list as it is now."""
    with shard.lock:
        return Walk(shard, watched)


def sweep_shard(shard: Shard[Key], pace: Pace | None = None) -> int:
    """Remove all entries of completed operations from the lists that a shard has now.

    Lists of one entry are looked at without the lock, and emptied in holds of a chunk's length.

    Args:
        shard: Whose lists are purged.
        pace: Counts what is looked at; a fresh one when absent.

    Returns:
        How many were removed.

    Rules: PURGATORY-PURGE-REMOVES.
    """
    removed = looked_at = 0
    counts = Pace() if pace is None else pace
    stale: list[WatcherList[Key]] = []
    for watched in shard.all_lists():
        only = watched.only
        if only is None:
            removed += walk_over(shard, watched).sweep(counts)
            continue
        if only._completed:
            stale.append(watched)
        looked_at += 1
        if looked_at == CHUNK:
            removed += _sweep_lists_of_one(shard, stale, counts)
            stale.clear()
            counts.count(looked_at)
            looked_at = 0
    removed += _sweep_lists_of_one(shard, stale, counts)
    counts.count(looked_at)
    return removed


def _sweep_lists_of_one(shard: Shard[Key], stale: list[WatcherList[Key]], pace: Pace) -> int:
    if not stale:
        return 0
    removed = shard.empty_lists_of_one(stale)
    for watched in stale:
        # Something was watched there meanwhile, and the stale entry is one of several.
        if watched.length:
            removed += walk_over(shard, watched).sweep(pace)
    return removed


def _places_of_completed(operations: list[DelayedOperation | None]) -> list[int]:
    """Return the places of completed operations; faster by half in one pass than in steps."""
    return [
        index
        for index, operation in enumerate(operations)
        if operation is not None and operation._completed
    ]


def _empty_until_live(
    operations: list[DelayedOperation | None],
    index: int,
    limit: int,
    removed: list[DelayedOperation],
) -> int:
    """Empty the places of completed operations up to the first other one; where that is."""
    while index < limit:
        operation = operations[index]
        if operation is not None:
            if not operation._completed:
                break
            removed.append(operation)
            operations[index] = None
        index += 1
    return index
