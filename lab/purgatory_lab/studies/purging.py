"""When finished operations are purged from the lists: the rule that tells the designs apart.

Each rule looks at the lists and at the timer's size, in passes of the reaper, and says whether a
purge is due. A rule that keeps an estimate can be asked how far it is off.
"""

from typing import Final

from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.timers import RequestQueue
from purgatory_lab.studies.watcher_counts import WatcherCounts

POLL_MS: Final = 200
"""How long a reaper that is told nothing sleeps at most, ms; Kafka's figure."""


class PurgeRule:
    """Says when to purge: this one never, for lists in which nothing is ever stale."""

    def __init__(self, lists: WatcherCounts, interval: int) -> None:
        """Look at these lists.

        Args:
            lists: What is purged.
            interval: What has to be exceeded, whatever the rule counts.
        """
        self.lists = lists
        self.interval = interval

    def count_watch(self) -> None:
        """An operation is being watched."""

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """When the reaper is to look, whether or not the timer has something to do by then."""
        return None

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Whether a purge is due; it then begins."""
        return False

    def purge(self) -> int:
        """Purge; how many entries, of lists and timer, were visited."""
        visited = self.lists.entries
        self.lists.purge()
        return visited

    def estimate(self, timer_size: int) -> int | None:
        """The operations in the lists as the rule estimates them; None where it does not."""
        return timer_size


class ByEstimate(PurgeRule):
    """The proposal: watches counted since the last purge, less those still in the timer."""

    def __init__(self, lists: WatcherCounts, interval: int) -> None:
        super().__init__(lists, interval)
        self._estimate = 0

    def count_watch(self) -> None:
        """Add one for a watched operation, whatever the number of its keys."""
        self._estimate += 1

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """At the next poll."""
        return last_pass_ms + POLL_MS

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Whether the difference exceeds the interval; the estimate is then the timer's size."""
        due = self._estimate - timer_size > self.interval
        if due:
            self._estimate = timer_size
        return due

    def estimate(self, timer_size: int) -> int | None:
        """The proposal's estimate."""
        return self._estimate


class ByCount(PurgeRule):
    """The exact accounting: as soon as more stale entries are counted than the interval."""

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """In the next millisecond, if too many are stale now."""
        return now_ms + 1 if self.begin_if_due(now_ms, 0) else None

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Whether more entries are stale than the interval."""
        return self.lists.stale_entries > self.interval

    def estimate(self, timer_size: int) -> int | None:
        """Time-outs that are owed and stale entries."""
        return timer_size + self.lists.stale_entries


class BySize(PurgeRule):
    """The old design: whenever the lists or the timer's queue are longer than the interval."""

    def __init__(self, lists: WatcherCounts, interval: int, queue: RequestQueue) -> None:
        super().__init__(lists, interval)
        self._queue = queue

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """At the next poll."""
        return last_pass_ms + POLL_MS

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Whether one of the two is longer, whatever is in them."""
        return self.lists.entries > self.interval or self._queue.queued > self.interval

    def purge(self) -> int:
        """Purge the lists and the queue."""
        queued = self._queue.queued
        self._queue.purge()
        return queued + super().purge()

    def estimate(self, timer_size: int) -> int | None:
        """There is none."""
        return None


class ByClearedReferences(PurgeRule):
    """Weak references: when a collection has reported more dead operations than the interval.

    The lists hold weak references; the timer's bucket has the only strong one. A completed
    operation leaves its bucket and is collected the next time that garbage is. The collector then
    reports it, once, to a queue that the reaper polls; its entries stay in the lists. Each
    collection looks at every reference in the lists.
    """

    def __init__(
        self, lists: WatcherCounts, interval: int, counts: Counts, collection_ms: int
    ) -> None:
        """A collection takes place every ``collection_ms``."""
        super().__init__(lists, interval)
        self._counts = counts
        self._collection_ms = collection_ms
        self._next_collection_ms = collection_ms
        self._reported = 0

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """At the next poll or collection, whichever is first."""
        return min(last_pass_ms + POLL_MS, self._next_collection_ms)

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Whether enough were reported, by a collection that takes place now or before."""
        if now_ms >= self._next_collection_ms:
            self._next_collection_ms += self._collection_ms
            self._counts.collections += 1
            self._counts.references_visited += self.lists.entries
            self._reported += self.lists.collect()
        due = self._reported > self.interval
        if due:
            self._reported = 0
        return due

    def estimate(self, timer_size: int) -> int | None:
        """There is none."""
        return None
