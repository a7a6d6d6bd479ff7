"""The queue of an executor: first in, first out.

A list with a head that moves, and no ``deque``: its items are read without a call in the compiled
build. Places before the head are empty and are given back once they are the larger half.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, final

from purgatory_impl.task import TimerTask

_LEAST: Final = 1024
"""As many empty places are always kept, tasks."""


@final
class TaskQueue:
    """Tasks in the order in which they were put; whoever uses it holds a lock."""

    __slots__ = ("_head", "_tasks")

    def __init__(self) -> None:
        self._head = 0
        self._tasks: list[TimerTask | None] = []

    def __len__(self) -> int:
        """How many tasks wait."""
        return len(self._tasks) - self._head

    def put(self, tasks: Iterable[TimerTask]) -> None:
        """Put tasks behind those that are there."""
        self._tasks.extend(tasks)

    def take(self) -> TimerTask | None:
        """The task that has waited longest, which is taken out; None where there is none."""
        tasks, head = self._tasks, self._head
        if head == len(tasks):
            return None
        task = tasks[head]
        tasks[head] = None
        head += 1
        if head == len(tasks):
            tasks.clear()
            head = 0
        elif head >= _LEAST and 2 * head >= len(tasks):
            del tasks[:head]
            head = 0
        self._head = head
        return task

    def tasks(self) -> list[TimerTask]:
        """Those that wait, first to be taken first."""
        return [task for task in self._tasks if task is not None]
