"""All watcher lists of a purgatory: the shards, and what concerns every one of them.

What is counted or gone through over all shards is not one instant's picture where other threads
are at work: each shard is looked at under its own lock, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Generic

from purgatory_impl.compiler import i64
from purgatory_impl.delayed_operation import DelayedOperation
from purgatory_impl.walks import Pace, sweep_shard, walk_over
from purgatory_impl.watchers import Key, Shard

_SHARDS: Final = 64
"""The number of shards: two threads seldom meet; Kafka has 512, and no interpreter lock."""


class WatcherLists(Generic[Key]):
    """The lists of all keys, spread over shards."""

    __slots__ = ("shards",)

    def __init__(self) -> None:
        self.shards: list[Shard[Key]] = [Shard() for _ in range(_SHARDS)]

    def shard_of(self, key: Key) -> Shard[Key]:
        """Return the shard of a key's list; the hash's higher bits count too, for keys in steps."""
        # As a native integer: a hash is too large for the compiled build's own ones.
        mixed: i64 = hash(key)
        return self.shards[(mixed ^ mixed >> 6) % _SHARDS]

    @property
    def entries(self) -> int:
        """Return the sum of the lengths of all lists.

        Rules: PURGATORY-ENTRIES.
        """
        return self.count_entries()

    def count_entries(self) -> int:
        """Return the sum of the lengths of all lists, for callers that need a function.

        Rules: PURGATORY-ENTRIES.
        """
        return sum(shard.entries for shard in self.shards)

    @property
    def keys(self) -> int:
        """Return the number of lists.

        Rules: PURGATORY-EMPTY-LISTS.
        """
        return sum(len(shard.lists) for shard in self.shards)

    def by_key(self) -> Iterator[tuple[Key, list[DelayedOperation]]]:
        """Yield the operations of each list, some at a time; a key may come more than once."""
        for shard in self.shards:
            for watched in shard.all_lists():
                walk = walk_over(shard, watched)
                while operations := walk.next_operations():
                    yield watched.key, operations

    def sweep(self, post: Callable[[int], None]) -> int:
        """Remove all entries of completed operations, list by list, giving way now and then.

        Args:
            post: Is given the balance after each shard.

        Returns:
            How many were removed.

        Rules: PURGATORY-PURGE-REMOVES, PURGATORY-STALE-ENTRIES, PURGATORY-STALE-OPERATIONS.
        """
        removed = 0
        pace = Pace()
        for shard in self.shards:
            swept = sweep_shard(shard, pace)
            post(-swept)
            removed += swept
        return removed
