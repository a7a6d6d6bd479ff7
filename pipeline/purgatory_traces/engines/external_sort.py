"""Sorting what does not fit into memory.

Theory of operation. Items are gathered until they take up a chunk's worth of memory. A chunk is
sorted; if nothing follows, that was all, and no file is written. Otherwise it is written to a file,
and at the end the files are merged. A chunk that begins where the one before it ends, the result of
sorted input, is joined to it: their files are read one after the other and never merged.

Files that are too many to be open together are merged in levels: 64 chunks of a level become one of
the next. So an item is written once for each level, twice for up to 4,096 chunks and three times
for up to 262,144; a chunk more when the last files are merged. Memory is bounded by about two
chunks, and disk space by twice the input.
"""

import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Self, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

Item = TypeVar("Item", bound=tuple[object, ...])

Key: TypeAlias = "SupportsRichComparison"
"""The key that items are compared by."""


def itself(item: tuple[object, ...]) -> Key:
    """Return the key of items that are compared as they are."""
    return item


CHUNK_BYTES = 64 << 20
"""The bytes that are sorted in memory at a time, about."""
_MOST_FILES = 64
"""The most files that are merged at a time; of each a part of a chunk is in memory then."""
_OVERHEAD_BYTES = 300
"""The bytes that an item takes up beside its own bytes and strings, about."""

_LENGTH = struct.Struct("<Q")


@dataclass(slots=True)
class _Chunk(Generic[Item]):
    """Items in order, in files that follow one another; ``level`` counts the merges behind them."""

    paths: list[Path]
    first: Item
    last: Item
    level: int


@dataclass
class ExternalSort(Generic[Item]):
    """Takes named tuples in any order and gives them back in theirs.

    Attributes:
        kind: The type of the items, which msgspec must be able to read and write.
        key: What they are compared by; items with equal keys stay in the order they came in.
        folder: Where files are written, in a folder of their own; it must exist.
        chunk_bytes: How much is held in memory at a time, about.
    """

    kind: type[Item]
    key: Callable[[Item], Key]
    folder: Path | None = None
    chunk_bytes: int = CHUNK_BYTES
    _waiting: list[Item] = field(default_factory=list)
    _waiting_bytes: int = 0
    _chunks: list[_Chunk[Item]] = field(default_factory=list)
    _files: "tempfile.TemporaryDirectory[str] | None" = None
    _written: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._files is not None:
            self._files.cleanup()

    def add(self, item: Item) -> None:
        """Take in an item, and write a chunk where memory is used up."""
        self._waiting.append(item)
        self._waiting_bytes += _bytes_of(item)
        if self._waiting_bytes >= self.chunk_bytes:
            self._write_waiting()

    def in_order(self) -> Iterator[Item]:
        """Return all items, sorted; to be called once, after the last ``add``."""
        self._waiting.sort(key=self.key)
        if not self._chunks:
            items, self._waiting = self._waiting, []
            return iter(items)
        self._write_waiting()
        while (left := len(self._chunks) - _MOST_FILES) > 0:
            self._merge_latest(min(left + 1, _MOST_FILES))
        return self._merged(self._chunks)

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        self._waiting.sort(key=self.key)
        items, self._waiting, self._waiting_bytes = self._waiting, [], 0
        chunk, before = self._write(items), self._chunks[-1] if self._chunks else None
        if before is not None and before.last is min(before.last, chunk.first, key=self.key):
            before.paths += chunk.paths
            before.last = chunk.last
            return
        self._chunks.append(chunk)
        # Levels never rise from one chunk to the next, so that the first and the last tell.
        while (
            len(latest := self._chunks[-_MOST_FILES:]) == _MOST_FILES
            and latest[0].level == latest[-1].level
        ):
            self._merge_latest(_MOST_FILES)

    def _merge_latest(self, count: int) -> None:
        """Put one chunk in the place of the latest ones: items with equal keys keep their order."""
        latest = self._chunks[-count:]
        self._chunks[-count:] = [self._write(self._merged(latest), latest[0].level + 1)]
        for path in chain.from_iterable(chunk.paths for chunk in latest):
            path.unlink()

    def _merged(self, chunks: list[_Chunk[Item]]) -> Iterator[Item]:
        return merge(*map(self._read, chunks), key=self.key)

    def _write(self, items: Iterable[Item], level: int = 0) -> _Chunk[Item]:
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(prefix="sorting-", dir=self.folder)
        self._written += 1
        path = Path(self._files.name) / f"{self._written}.chunk"
        encoder = msgspec.msgpack.Encoder()
        first: Item | None = None
        last: Item | None = None
        block: list[Item] = []
        size = 0
        with path.open("wb") as file:

            def put() -> None:
                packed = encoder.encode(block)
                file.write(_LENGTH.pack(len(packed)))
                file.write(packed)

            for item in items:
                first = item if first is None else first
                last = item
                block.append(item)
                size += _bytes_of(item)
                if size * _MOST_FILES >= self.chunk_bytes:
                    put()
                    block.clear()
                    size = 0
            if block:
                put()
        assert first is not None
        assert last is not None
        return _Chunk([path], first, last, level)

    def _read(self, chunk: _Chunk[Item]) -> Iterator[Item]:
        decoder = msgspec.msgpack.Decoder(list[self.kind])  # type: ignore[name-defined]
        for path in chunk.paths:
            with path.open("rb") as file:
                while head := file.read(_LENGTH.size):
                    (length,) = _LENGTH.unpack(head)
                    yield from decoder.decode(file.read(length))


def _bytes_of(item: tuple[object, ...]) -> int:
    """Return the memory that an item takes up, about."""
    size = _OVERHEAD_BYTES
    for value in item:
        if isinstance(value, str | bytes):
            size += len(value)
    return size
