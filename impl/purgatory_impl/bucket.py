"""The bucket: a doubly linked list of tasks of one expiry, where each task is its own cell.

    bucket.first -> task <-> task <-> task <- bucket.last

A bucket is *queued* while it waits in the delay queue. It may be queued and empty (its tasks were
cancelled), and it may hold tasks without being queued while it is being emptied.
"""

from __future__ import annotations

from typing import final

from purgatory_impl.task import TimerTask


@final
class Bucket:
    """Tasks that share one slot of one level; every operation takes constant time."""

    __slots__ = ("expiry_ms", "first", "last", "queued")

    def __init__(self) -> None:
        self.expiry_ms = 0
        self.queued = False
        self.first: TimerTask | None = None
        self.last: TimerTask | None = None

    def append(self, task: TimerTask) -> None:
        """Put a task that is in no bucket at the end."""
        last = self.last
        task._bucket = self
        task._previous = last
        if last is None:
            self.first = task
        else:
            last._next = task
        self.last = task

    def remove(self, task: TimerTask) -> None:
        """Take a task of this bucket out, wherever it stands."""
        before = task._previous
        after = task._next
        if before is None:
            self.first = after
        else:
            before._next = after
            task._previous = None
        if after is None:
            self.last = before
        else:
            after._previous = before
            task._next = None
        task._bucket = None

    def pop(self) -> TimerTask | None:
        """Take the first task out; None where there is none."""
        task = self.first
        if task is None:
            return None
        after = task._next
        self.first = after
        if after is None:
            self.last = None
        else:
            after._previous = None
            task._next = None
        task._bucket = None
        return task
