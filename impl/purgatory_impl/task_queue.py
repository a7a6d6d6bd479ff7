"""The queue of an executor: first in, first out.

    first -> batch -> ... -> last        a batch is a list of tasks; the first one has a head

No ``deque``: the items of a list are read without a call in the compiled build. And no single list,
which would be copied in one hold of the lock as it grows: a batch has at most ``BATCH`` tasks, or
as many as were put at once. Places before the head are empty; a batch goes with its last task.

Between two changes that belong together stands no call, which an exception could interrupt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, final

from purgatory_impl.task import Task

BATCH: Final = 1024
"""The largest number of tasks in a list that is filled by several puts."""


@final
class Batch:
    """Consecutive tasks of the queue; None in the place of a task already taken out."""

    __slots__ = ("next", "tasks")

    def __init__(self) -> None:
        self.tasks: list[Task | None] = []
        self.next: Batch | None = None


@final
class TaskQueue:
    """Tasks in the order in which they were put; whoever uses it holds a lock."""

    __slots__ = ("_first", "_head", "_last", "_length")

    def __init__(self) -> None:
        self._first = self._last = Batch()
        self._head = 0
        self._length = 0

    def __len__(self) -> int:
        """Return the number of tasks that wait."""
        return self._length

    def put(self, tasks: Iterable[Task]) -> None:
        """Append tasks to the queue, in their order."""
        added: list[Task | None] = [*tasks]
        count = len(added)
        if self._last.tasks and len(self._last.tasks) + count > BATCH:
            self._last.next = Batch()
            self._last = self._last.next
        self._last.tasks += added
        self._length += count

    def take(self) -> Task | None:
        """Take out the task that has waited longest; None from an empty queue."""
        if self._length == 0:
            return None
        batch = self._first
        if self._head == len(batch.tasks):
            assert batch.next is not None
            batch = self._first = batch.next
            self._head = 0
        task = batch.tasks[self._head]
        batch.tasks[self._head] = None
        self._head += 1
        self._length -= 1
        if self._length == 0:
            # Nothing is left in the last batch either, which is this one.
            self._head = 0
            batch.tasks.clear()
        return task

    def tasks(self) -> list[Task]:
        """Return the waiting tasks, in the order of the queue."""
        waiting: list[Task] = []
        batch: Batch | None = self._first
        while batch is not None:
            waiting += [task for task in batch.tasks if task is not None]
            batch = batch.next
        return waiting
