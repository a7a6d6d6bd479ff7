"""Counts of a setting: one row of the results."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Range:
    """A number as it was at the end of each millisecond.

    Attributes:
        least: Its minimum.
        most: Its maximum.
        sum: The sum over all milliseconds.
    """

    least: int = 0
    most: int = 0
    sum: int = 0

    def hold(self, value: int, milliseconds: int) -> None:
        """Hold ``value`` for some milliseconds."""
        if value > self.most:
            self.most = value
        elif value < self.least:
            self.least = value
        self.sum += value * milliseconds


@dataclass(slots=True)
class Counts:
    """All counts of a setting. A *pass* is one turn of the reaper.

    Attributes:
        completed: Requests completed by an event.
        expired: Requests completed by their time-out.
        expired_on_arrival: Those whose time-out was due when they were added to the timer.
        early_ms: How much too early requests expired, summed.
        early_most_ms: ... at most.
        virtual_ms: How long the workload took on the virtual clock.
        wake_ups: Passes in which something in the timer was due.
        polls: Passes in which nothing was.
        inserted: Requests put on each level of the timer when they arrived.
        reinserted: Requests taken from each level and put on a lower one.
        queue_pushes: Entries put into the delay queue.
        queue_pops: Entries popped from it.
        queue_steps: Levels of its heap that both have passed, at most.
        popped_empty: Entries popped for nothing.
        purges: Purges.
        purges_for_nothing: Purges that removed no entry.
        purge_visited: Entries visited by purges, in the lists and in the old design's queue.
        purge_removed: Entries removed from lists by purges.
        events: Events that checked a key.
        caller_steps: List entries that the callers of these visited or unlinked.
        caller_most_steps: ... one of them at most.
        collections: Garbage collections, for designs that depend on collections.
        references_visited: Weak references visited by the collections.
        live: Operations in the lists that are not completed.
        entries: Entries of all lists.
        stale_entries: Those of completed operations.
        stale_operations: Completed operations in some list.
        queued: Entries of the delay queue.
        queued_completed: Completed requests in the old design's delay queue.
        over_distinct: The estimate, less the operations in the lists.
        over_live: The estimate, less those that are not completed.
    """

    completed: int = 0
    expired: int = 0
    expired_on_arrival: int = 0
    early_ms: int = 0
    early_most_ms: int = 0
    virtual_ms: int = 0
    wake_ups: int = 0
    polls: int = 0
    inserted: list[int] = field(default_factory=list)
    reinserted: list[int] = field(default_factory=list)
    queue_pushes: int = 0
    queue_pops: int = 0
    queue_steps: int = 0
    popped_empty: int = 0
    purges: int = 0
    purges_for_nothing: int = 0
    purge_visited: int = 0
    purge_removed: int = 0
    events: int = 0
    caller_steps: int = 0
    caller_most_steps: int = 0
    collections: int = 0
    references_visited: int = 0
    live: Range = field(default_factory=Range)
    entries: Range = field(default_factory=Range)
    stale_entries: Range = field(default_factory=Range)
    stale_operations: Range = field(default_factory=Range)
    queued: Range = field(default_factory=Range)
    queued_completed: Range = field(default_factory=Range)
    over_distinct: Range = field(default_factory=Range)
    over_live: Range = field(default_factory=Range)
