"""The list of one key: a chain of chunks, each a plain list with a place for each entry.

    WatcherList: only                                an operation, one entry
    WatcherList: first -> chunk <-> chunk <- last    more entries
    Chunk: operations [a, None, b, ...]

An entry is a place in a chunk of at most ``CHUNK``: 8 bytes, and 1 or 2 for the chunk. A linked
cell takes 80 bytes, and an allocation for each entry. One plain list for the whole key is smaller
still, but is copied in one hold of the lock as it grows, and as entries leave it. 128 places are
what a plain list has room for at one of its sizes, and few enough for a hold; with 64, an entry
takes 1 byte more.

A list of one entry has no chunk: with thousands of keys that is what most are. It is an object and
not the operation itself for the sake of the key. The dictionary's key object may have no other
holder, and whoever empties the list has to hold it until the lock is let go of.

Who takes an entry out leaves ``None`` in its place. A chunk whose places are all empty leaves the
list at once. The others are put in order as walks and purges leave them: one whose entries fit in
behind the chunk before moves there, and one that has at least ``CHUNK // 8`` empty places, which
are half of its places or more, is replaced by a shorter one. So after a purge, two chunks that
follow each other do not fit into one, and a chunk has fewer than ``CHUNK // 8`` empty places or
fewer than entries: a list has less than 2.4 places for each entry, and 16 more. No more moves than
was removed before, so all this costs a bounded number of steps for each entry that leaves a list.

A chunk whose entries have moved keeps its old places, and points to the chunk that holds the
entries now. A walk that stands on a moved chunk can go on in the old places, and follows the
pointer when it needs the current list. Such chunks go with the walk.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from purgatory_impl.delayed_operation import DelayedOperation

Key = TypeVar("Key", bound=Hashable)

CHUNK: Final = 128
"""The places of a chunk, and so the steps of a hold."""


class Chunk:
    """A part of a list.

    Attributes:
        operations: An operation for each entry, and None where it was taken out.
        removed: How many are None.
        moved_to: The chunk that holds the entries now; for an empty chunk the next one, or else the
            previous one. None while the chunk is in the list.
        moved_by: The number of places in ``moved_to`` before this chunk's first entry.
    """

    __slots__ = ("moved_by", "moved_to", "next", "operations", "previous", "removed")

    def __init__(self, operations: list[DelayedOperation | None]) -> None:
        self.operations = operations
        self.removed = 0
        self.previous: Chunk | None = None
        self.next: Chunk | None = None
        self.moved_to: Chunk | None = None
        self.moved_by = 0

    def moved(self, index: int) -> int:
        """Return the index in ``moved_to`` of the entry at ``index`` here, or of the one behind."""
        place = self.moved_by
        if self.removed == len(self.operations):
            return place
        for before in range(index):
            if self.operations[before] is not None:
                place += 1
        return place


class WatcherList(Generic[Key]):
    """The entries of one key; its methods are called by who holds the lock of the shard.

    Attributes:
        length: How many; 0 from when the list leaves its dictionary.
        only: The operation, as long as there has been no more than one entry.
    """

    __slots__ = ("first", "key", "last", "length", "only")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.length = 0
        self.only: DelayedOperation | None = None
        self.first: Chunk | None = None
        self.last: Chunk | None = None

    def append(self, operation: DelayedOperation) -> None:
        """Add an entry at the end."""
        # First, so that an interrupt never leaves an entry that is not counted.
        self.length += 1
        last = self.last
        if last is not None:
            if len(last.operations) < CHUNK:
                last.operations.append(operation)
            else:
                chunk = Chunk([operation])
                chunk.previous = last
                last.next = self.last = chunk
        elif self.only is None:
            self.only = operation
        else:
            self.first = self.last = Chunk([self.only, operation])
            self.only = None

    def take_oldest(self, operation: DelayedOperation) -> bool:
        """Empty the place of the oldest entry, if that is one of this operation."""
        chunk = self.first
        if chunk is None:
            if self.only is not operation:
                return False
            self.only = None
            return True
        index = 0
        while index < len(chunk.operations) and chunk.operations[index] is None:
            index += 1
        if index == len(chunk.operations):
            return False  # a call was interrupted that had emptied the last place
        if chunk.operations[index] is not operation:
            return False
        self.take(chunk, index)
        return True

    def take(self, chunk: Chunk, index: int) -> None:
        """Empty one place of a chunk and count it as removed."""
        chunk.operations[index] = None
        self.count_removed(chunk, 1)

    def count_removed(self, chunk: Chunk, removed: int) -> None:
        """Count places of a chunk that were emptied; it leaves the list with its last entry."""
        chunk.removed += removed
        if chunk.removed == len(chunk.operations):
            moved_to, moved_by = chunk.next, 0
            if chunk.next is None and chunk.previous is not None:
                moved_to = chunk.previous
                moved_by = len(chunk.previous.operations)
            self._take_out(chunk, None, moved_to, moved_by, [])

    def put_in_order(self, chunk: Chunk) -> None:
        """Move the entries of a chunk to the previous or a shorter chunk, if places are saved."""
        places = len(chunk.operations)
        before = chunk.previous
        if before is not None and len(before.operations) + places - chunk.removed <= CHUNK:
            entries = [each for each in chunk.operations if each is not None]
            self._take_out(chunk, None, before, len(before.operations), entries)
        elif chunk.removed >= CHUNK // 8 and chunk.removed * 2 >= places:
            shorter = Chunk([each for each in chunk.operations if each is not None])
            self._take_out(chunk, shorter, shorter, 0, [])

    def _take_out(
        self,
        chunk: Chunk,
        shorter: Chunk | None,
        moved_to: Chunk | None,
        moved_by: int,
        entries: list[DelayedOperation],
    ) -> None:
        """Take a chunk out of the list, put a shorter one in its place, or append its entries.

        Nothing is called here, so an interrupt comes before all of it or after.
        """
        before, after = chunk.previous, chunk.next
        chunk.moved_to = moved_to
        chunk.moved_by = moved_by
        chunk.previous = chunk.next = None
        if moved_to is not None:
            moved_to.operations += entries
        follows, leads = after, before
        if shorter is not None:
            follows = leads = shorter
            shorter.previous, shorter.next = before, after
        if before is None:
            self.first = follows
        else:
            before.next = follows
        if after is None:
            self.last = leads
        else:
            after.previous = leads

    def take_apart(self) -> list[DelayedOperation]:
        """Return the operations of a list that has left its dictionary; this needs no lock."""
        if self.only is not None:
            return [self.only]
        operations: list[DelayedOperation] = []
        chunk = self.first
        # Leave no circle of links behind.
        self.first = self.last = None
        while chunk is not None:
            operations += [each for each in chunk.operations if each is not None]
            chunk.previous = None
            chunk = chunk.next
        return operations
