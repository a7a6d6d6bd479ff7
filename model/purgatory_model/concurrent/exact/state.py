"""The shared memory of the concurrent purgatory, and each thread's own variables.

A list is a *bag* of operations: how often each stands in it, and no order. It is written as a
sorted tuple, ``(1, 1, 2)``, so that equal bags are equal tuples. Where a model is asked to keep
the order (``ExactInstance.ordered``) the same tuple is the list, oldest entry first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from immutables import Map

Bag: TypeAlias = tuple[int, ...]
"""Operations by number, as often as they are in it."""

Stage: TypeAlias = Literal[
    "idle",
    "win",
    "drop-own",
    "post",
    "call-back",
    "nested",
    "begin",
    "settle",
    "arm",
    "insert",
    "second-try",
    "copy-list",
    "walk",
    "look-behind",
    "drop",
    "cancel",
    "decide",
    "sweep",
]
"""The place of a thread: its next action; a thread that is ``idle`` is in no call."""

NO_OPERATION = 0


@dataclass(frozen=True, slots=True)
class Delayed:
    """A delayed operation and its word.

    Attributes:
        completed: One half of the atomic word. The thread that sets the bit completes the
            operation.
        entries: The other half: list entries that it has or has been promised; 0 once completed.
        callbacks: How often its callback has run.
        calls: How often it has been given to watch.
        raised: Whether a try of it, or appending it to a list, has raised.
    """

    completed: bool = False
    entries: int = 0
    callbacks: int = 0
    calls: int = 0
    raised: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread's place in its program, and its local variables.

    Attributes:
        stage: The step that the thread takes next.
        operation: The operation that it is busy with, 0 for none.
        key: The key that the thread checks; None outside a check.
        balance: What it has still to add to the shared count of stale entries.
        promised: The keys of the entries that it has still to insert.
        batch: The rest of the list that the thread walks as a copy, or has detached.
        unswept: The pairs of key and operation that its purge has still to look at.
        about: Only for programs: the operations that the call has completed, or the operations of
            the detached list.
        failed: Only for programs: whether something has raised in this call.
    """

    stage: Stage = "idle"
    operation: int = NO_OPERATION
    key: str | None = None
    balance: int = 0
    promised: tuple[str, ...] = ()
    batch: Bag = ()
    unswept: frozenset[tuple[str, int]] = frozenset()
    about: Bag = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ExactState:
    """Everything: shared memory, and every thread.

    Attributes:
        events: How often the event of each key has happened.
        operations: The delayed operations by number.
        lists: The watcher list of each key; no list is ever dropped.
        timer: The operations whose time-out waits in the timer.
        queue: Those whose time-out is due and waits for the executor.
        stale: The one shared count.
        threads: Every thread by name.
    """

    events: Map[str, int]
    operations: Map[int, Delayed]
    lists: Map[str, Bag]
    threads: Map[str, Thread]
    timer: frozenset[int] = frozenset()
    queue: frozenset[int] = frozenset()
    stale: int = 0

    @property
    def completed(self) -> frozenset[int]:
        """Return the numbers of the completed operations."""
        return frozenset(number for number, each in self.operations.items() if each.completed)

    @property
    def quiet(self) -> bool:
        """Decide whether no thread is in the middle of an action; the queue may be filled."""
        return all(thread.stage == "idle" for thread in self.threads.values())

    @property
    def deciding(self) -> frozenset[int]:
        """Return the operation whose expiry the executor is deciding, if there is one."""
        threads = self.threads.values()
        return frozenset(each.operation for each in threads if each.stage == "decide")

    @property
    def entries(self) -> int:
        """Return the number of entries in all lists. Rules: PURGATORY-ENTRIES."""
        return sum(1 for _ in self.listed())

    @property
    def distinct(self) -> frozenset[int]:
        """Return the operations in some list."""
        return frozenset(self.listed())

    @property
    def live(self) -> frozenset[int]:
        """Return the operations in some list that are not completed."""
        return self.distinct - self.completed

    @property
    def stale_entries(self) -> int:
        """Return the number of entries of completed operations in all lists."""
        completed = self.completed
        return sum(number in completed for number in self.listed())

    @property
    def pending(self) -> int:
        """Return the number of time-outs that are owed. Rules: PURGATORY-PENDING."""
        return len(self.timer) + len(self.queue) + len(self.deciding)

    @property
    def estimate(self) -> int:
        """Return the estimated total of operations. Rules: PURGATORY-ESTIMATE-EXACT."""
        return self.pending + max(0, self.stale)

    def listed(self) -> Iterator[int]:
        """Yield every entry of every list."""
        for bag in self.lists.values():
            yield from bag


def without(bag: Bag, operation: int) -> Bag:
    """Return a bag with one entry of an operation less, or unchanged without one."""
    if operation not in bag:
        return bag
    place = bag.index(operation)
    return bag[:place] + bag[place + 1 :]
