"""Rules for the time of purges, which tell the designs apart.

Each rule looks at the lists and at the timer's size, in passes of the reaper, and says whether a
purge is due. A rule that keeps an estimate can be asked how far it is off.
"""

from typing import Final

from purgatory_lab.studies.counts import Counts
from purgatory_lab.studies.timers import RequestQueue
from purgatory_lab.studies.watcher_counts import WatcherCounts

POLL_MS: Final = 200
"""The longest sleep of a reaper that is told nothing, ms; Kafka's figure."""


class PurgeRule:
    """Says when to purge: this one never, for lists in which nothing is ever stale."""

    def __init__(self, lists: WatcherCounts, interval: int) -> None:
        """Make a rule for these lists.

        Args:
            lists: What is purged.
            interval: What has to be exceeded, whatever the rule counts.
        """
        self.lists = lists
        self.interval = interval

    def count_watch(self) -> None:
        """Count an operation that is being watched."""

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """Return the time of the reaper's next look, apart from the timer; None for no look."""
        return None

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Decide whether a purge is due, and begin it."""
        return False

    def purge(self) -> int:
        """Purge; how many entries, of lists and timer, were visited."""
        visited = self.lists.entries
        self.lists.purge()
        return visited

    def estimate(self, timer_size: int) -> int | None:
        """Return the rule's estimate of the operations in the lists; None where it has none."""
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
        """Return the time of the next poll."""
        return last_pass_ms + POLL_MS

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Decide whether the difference exceeds the interval; then set the estimate anew."""
        due = self._estimate - timer_size > self.interval
        if due:
            self._estimate = timer_size
        return due

    def estimate(self, timer_size: int) -> int | None:
        """Return the proposal's estimate of the total of operations."""
        return self._estimate


class ByCount(PurgeRule):
    """The exact accounting: as soon as more stale entries are counted than the interval."""

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """Return the next millisecond, if too many entries are stale now."""
        return now_ms + 1 if self.begin_if_due(now_ms, 0) else None

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Decide whether more entries are stale than the interval."""
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
        """Return the time of the next poll."""
        return last_pass_ms + POLL_MS

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Decide whether the lists or the queue are longer than the interval."""
        return self.lists.entries > self.interval or self._queue.queued > self.interval

    def purge(self) -> int:
        """Purge the lists and the queue."""
        queued = self._queue.queued
        self._queue.purge()
        return queued + super().purge()

    def estimate(self, timer_size: int) -> int | None:
        """Return None: the rule has no estimate."""
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
        """Make a rule with a collection every ``collection_ms``."""
        super().__init__(lists, interval)
        self._counts = counts
        self._collection_ms = collection_ms
        self._next_collection_ms = collection_ms
        self._reported = 0

    def next_pass_ms(self, now_ms: int, last_pass_ms: int) -> int | None:
        """Return the time of the next poll or collection, whichever is first."""
        return min(last_pass_ms + POLL_MS, self._next_collection_ms)

    def begin_if_due(self, now_ms: int, timer_size: int) -> bool:
        """Decide whether enough dead operations were reported, by a collection now or before."""
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
        """Return None: the rule has no estimate."""
        return None
