"""Stores of pending tasks: their interface, and the most liberal store.

Theory of operation. A store is a value that holds the pending tasks with their due ticks.
Tasks come in by ``insert``, leave by ``remove`` or all together, when they are due, by ``pop_due``.
``PendingTasks`` says only what the rules for every timer say: nothing leaves early, nothing that is
due stays, ticks leave in order. It leaves free whether a task that is due when it is added expires
at once or waits for the next advance, and what an advance answers that expires nothing.
"""

from collections.abc import Mapping
from typing import Generic, Protocol, Self, TypeVar

import msgspec
from immutables import Map

from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import Observable

Tasks = frozenset[str]


class Store(Protocol):
    """A store of pending tasks. A store is a value; its methods give new stores."""

    @property
    def due_ticks(self) -> Mapping[str, int]:
        """Return the pending tasks, each with its due tick (ms)."""

    def insert(self, task: str, expiry_ms: int, due_tick: int, now_ms: int) -> "Inserted[Self]":
        """Add a task that is not pending; see ``Inserted``."""

    def remove(self, task: str) -> Self:
        """Return the store without a task, which need not be pending."""

    def pop_due(self, now_ms: int) -> "Popped[Self]":
        """Return the tasks that an advance at this reading takes out, and the store left."""

    def emptied(self) -> Self:
        """Return the store without its pending tasks."""

    def observe(self) -> Mapping[Observable, Value]:
        """Return the observables that depend on the store."""


AnyStore = TypeVar("AnyStore", bound=Store)


class Inserted(msgspec.Struct, Generic[AnyStore], frozen=True):
    """The store after an add: ``pending`` with the task in a bucket, ``expired`` without it.

    One of the two is None, or neither where the rules leave the choice. Both are None where the
    add fails, which no rule plans but a variant may follow; ``failed`` is the store then.
    """

    pending: AnyStore | None = None
    expired: AnyStore | None = None
    failed: AnyStore | None = None


class Popped(msgspec.Struct, Generic[AnyStore], frozen=True):
    """The store after an advance, the tasks that expired, tick by tick, and the result.

    ``popped`` None means that the result is free.
    """

    store: AnyStore
    ticks: tuple[Tasks, ...]
    popped: bool | None


class PendingTasks(msgspec.Struct, frozen=True):
    """The most liberal store: the pending tasks with their due ticks and nothing else."""

    due_ticks: Map[str, int] = Map()
    none_before_ms: int | None = None
    """A reading before which nothing is due; None where that is not known."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PendingTasks):
            return NotImplemented
        return self.due_ticks == other.due_ticks

    def __hash__(self) -> int:
        return hash(self.due_ticks)

    def insert(
        self, task: str, expiry_ms: int, due_tick: int, now_ms: int
    ) -> Inserted["PendingTasks"]:
        """Return the store after an add; a due task may wait. Rules: TIMER-ALREADY-DUE."""
        bound = self.none_before_ms if self.due_ticks else due_tick
        if bound is not None:
            bound = min(bound, due_tick)
        pending = PendingTasks(self.due_ticks.set(task, due_tick), bound)
        return Inserted(pending=pending, expired=self if due_tick <= now_ms else None)

    def remove(self, task: str) -> "PendingTasks":
        """Return the store without the task."""
        if task not in self.due_ticks:
            return self
        return PendingTasks(self.due_ticks.delete(task), self.none_before_ms)

    def pop_due(self, now_ms: int) -> Popped["PendingTasks"]:
        """Take out everything due, tick by tick. Rules: TIMER-NOT-EARLY, TIMER-NOT-LATE."""
        if self.none_before_ms is not None and now_ms < self.none_before_ms:
            return Popped(self, (), None)
        ticks: dict[int, set[str]] = {}
        left = self.due_ticks
        bound: int | None = None
        for task, due_tick in self.due_ticks.items():
            if due_tick <= now_ms:
                ticks.setdefault(due_tick, set()).add(task)
                left = left.delete(task)
            elif bound is None or due_tick < bound:
                bound = due_tick
        groups = tuple(frozenset(ticks[tick]) for tick in sorted(ticks))
        return Popped(PendingTasks(left, bound), groups, True if groups else None)

    def emptied(self) -> "PendingTasks":
        """Return the store without tasks."""
        return PendingTasks()

    def observe(self) -> Mapping[Observable, Value]:
        """Return the number of pending tasks. Rules: TIMER-SIZE."""
        return {Observable.SIZE: len(self.due_ticks)}
