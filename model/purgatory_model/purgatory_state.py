"""State of a purgatory, and the counts that can be read from it."""

import msgspec
from immutables import Map

from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import Store
from purgatory_model.watcher_lists import Names
from purgatory_spec.operations import Script
from purgatory_spec.profiles import PurgatoryObservable

NO_SCRIPT = Script()
"""Every try waits and the callbacks do nothing."""


class OperationState(msgspec.Struct, frozen=True):
    """A delayed operation: delay and script as introduced, tries used, satisfied, completed.

    ``tries`` is the number of answers of its script that were given, at most all of them.
    """

    delay_ms: int
    script: Script = NO_SCRIPT
    tries: int = 0
    satisfied: bool = False
    completed: bool = False


class PurgatoryState(msgspec.Struct, frozen=True):
    """Everything that the future of a purgatory depends on.

    The executor's queue is the timer's. ``estimate`` is the count that the accounting ``proposal``
    keeps; ``exact`` keeps none here: its estimate is computed from the rest.
    """

    timer: TimerState[Store]
    operations: Map[str, OperationState] = Map()
    lists: Names = Map()
    estimate: int = 0
    closed: bool = False

    @property
    def completed(self) -> frozenset[str]:
        """Return the names of the completed operations."""
        return frozenset(name for name, each in self.operations.items() if each.completed)

    @property
    def entries(self) -> int:
        """Return the number of entries in all lists. Rules: PURGATORY-ENTRIES."""
        return sum(len(entries) for entries in self.lists.values())

    @property
    def distinct(self) -> frozenset[str]:
        """Return the operations in some list."""
        return frozenset(name for entries in self.lists.values() for name in entries)

    @property
    def live(self) -> frozenset[str]:
        """Return the operations in some list that are not completed."""
        return self.distinct - self.completed

    @property
    def stale_operations(self) -> frozenset[str]:
        """Return the completed operations in some list."""
        return self.distinct & self.completed

    @property
    def stale_entries(self) -> int:
        """Return the number of entries of completed operations in all lists."""
        completed = self.completed
        return sum(name in completed for entries in self.lists.values() for name in entries)

    @property
    def live_entries(self) -> int:
        """Return the number of entries of live operations in all lists."""
        return self.entries - self.stale_entries

    @property
    def timer_size(self) -> int:
        """Return the number of operations in the timer. Rules: PURGATORY-TIMER-SIZE."""
        return len(self.timer.store.due_ticks)

    @property
    def pending(self) -> int:
        """Return the number of time-outs that are owed. Rules: PURGATORY-PENDING."""
        return self.timer_size + len(self.timer.queue)

    def count(self, observable: PurgatoryObservable) -> int:
        """Return the value of an observable; ``estimate`` is kept by the accounting ``proposal``.

        Raises:
            ValueError: the observable is none of a state.
        """
        match observable:
            case PurgatoryObservable.ENTRIES:
                return self.entries
            case PurgatoryObservable.KEYS:
                return len(self.lists)
            case PurgatoryObservable.STALE_ENTRIES:
                return self.stale_entries
            case PurgatoryObservable.STALE_OPERATIONS:
                return len(self.stale_operations)
            case PurgatoryObservable.TIMER_SIZE:
                return self.timer_size
            case PurgatoryObservable.QUEUED:
                return len(self.timer.queue)
            case PurgatoryObservable.PENDING:
                return self.pending
            case PurgatoryObservable.ESTIMATE:
                return self.estimate
            case PurgatoryObservable.CALLBACK_TIMER_SIZE:
                raise ValueError("the timer's size in a callback is of a step, and of no state")
