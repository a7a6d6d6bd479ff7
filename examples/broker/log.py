"""A partition's records in memory: only appended to, read by offset, up to a high watermark.

The high watermark is the offset below which every follower has all records. A follower says how far
it is by the offset from which it fetches next. Consumers read below the high watermark alone, so
that nobody sees a record that a follower has still to get. It never goes back, also when a follower
begins anew.
"""

import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence


class PartitionLog:
    """The records of one partition; may be used by any thread."""

    def __init__(self, follower_ids: Iterable[int] = ()) -> None:
        self._lock = threading.Lock()
        self._records: list[bytes] = []
        # Bytes up to the end of each record, and 0 in front: sizes without adding up.
        self._bytes_before = array("q", [0])
        self._positions = dict.fromkeys(follower_ids, 0)
        self._high_watermark = 0

    @property
    def end(self) -> int:
        """Return the offset that the next record gets."""
        return len(self._records)

    @property
    def high_watermark(self) -> int:
        """Return the offset below which every follower has all records."""
        return self._high_watermark

    def append(self, records: Sequence[bytes]) -> int:
        """Append records; the offset of the first."""
        with self._lock:
            offset = len(self._records)
            for record in records:
                self._bytes_before.append(self._bytes_before[-1] + len(record))
            # Behind their sizes: ``end`` is read without the lock, and has its size already.
            self._records += records
            self._advance()
            return offset

    def follower_has(self, follower_id: int, offset: int) -> bool:
        """Note the follower's position; return whether the high watermark has moved."""
        with self._lock:
            before = self._high_watermark
            self._positions[follower_id] = offset
            self._advance()
            return self._high_watermark > before

    def bytes_between(self, offset: int, end: int) -> int:
        """Return the size of the records from one offset to below another; 0 where none exist."""
        with self._lock:
            return max(0, self._bytes_before[end] - self._bytes_before[offset])

    def read(
        self, offset: int, end: int, max_bytes: int, *, at_least_one: bool
    ) -> tuple[bytes, ...]:
        """Return successive records from one offset to below another.

        Args:
            offset: Of the first.
            end: Behind the last; at most the log's end.
            max_bytes: How much they may have together.
            at_least_one: Whether the first record is read however large it is. Otherwise a record
                above ``max_bytes`` could never be read.
        """
        with self._lock:
            most = self._bytes_before[offset] + max(0, max_bytes)
            fitting = bisect_right(self._bytes_before, most) - 1
            return tuple(self._records[offset : min(end, max(fitting, offset + at_least_one))])

    def _advance(self) -> None:
        lowest = min(self._positions.values(), default=len(self._records))
        self._high_watermark = max(self._high_watermark, lowest)
