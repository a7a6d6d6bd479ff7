"""What has to have happened by when: a heap that forgets what is no longer waited for.

An entry is not taken out when its name is done with; it is found to mean nothing when its time
comes. Where most entries mean nothing the heap is made anew, so that it stays as large as what is
live.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

_FEW = 64


@dataclass(slots=True)
class Deadlines:
    """Names with a time each, ms; a name may have several."""

    _heap: list[tuple[int, str]] = field(default_factory=list)

    def put(self, at_ms: int, name: str) -> None:
        """Wait for a time."""
        heappush(self._heap, (at_ms, name))

    def before(self, now_ms: int) -> Iterator[str]:
        """Take out the names whose time lies before a reading, the earliest first."""
        while self._heap and self._heap[0][0] < now_ms:
            yield heappop(self._heap)[1]

    def is_crowded(self, live: int) -> bool:
        """Whether most entries can mean nothing, if so many are live."""
        return len(self._heap) > _FEW + 2 * live

    def rebuild(self, entries: Iterable[tuple[int, str]]) -> None:
        """Keep these entries alone."""
        self._heap = list(entries)
        heapify(self._heap)

    def __len__(self) -> int:
        return len(self._heap)
