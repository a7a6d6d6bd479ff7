"""The bucket: a ring of tasks of one expiry, where each task is its own cell.

    bucket -> task <-> task <-> task -> bucket

The bucket itself is the cell between the last task and the first; empty, it is its own neighbour.
So no link in a ring is ever missing, and a task leaves its ring without knowing the bucket.

A bucket is *queued* while it waits in the delay queue. It may be queued and empty (its tasks were
cancelled), and it may hold tasks without being queued while it is being emptied.
"""

from __future__ import annotations

from typing import cast, final

from purgatory_impl.task import Cell, Task


@final
class Bucket(Cell):
    """The tasks in a slot of a level; every operation takes constant time."""

    __slots__ = ("expiry_ms", "queued")

    def __init__(self) -> None:
        super().__init__()
        self._next = self._previous = self
        self.expiry_ms = 0
        self.queued = False

    def append(self, task: Task) -> None:
        """Put a task that is in no bucket at the end."""
        last = self._previous
        assert last is not None
        task._previous = last
        task._next = self
        last._next = task
        self._previous = task

    def is_empty(self) -> bool:
        """Decide whether no task is in the ring."""
        return self._next is self

    def ring(self) -> Cell:
        """Return the first cell behind the bucket: a task, or the empty bucket itself."""
        first = self._next
        assert first is not None
        return first

    def first(self) -> Task | None:
        """Return the first task; None in an empty bucket."""
        return self.behind(self)

    def behind(self, cell: Cell) -> Task | None:
        """Return the task behind a cell of this ring; None at the end."""
        after = cell._next
        return None if after is self else cast("Task", after)


def remove(task: Task) -> None:
    """Take a task that is in a bucket out, wherever it stands."""
    before, after = task._previous, task._next
    assert before is not None
    assert after is not None
    before._next = after
    after._previous = before
    task._previous = task._next = None
