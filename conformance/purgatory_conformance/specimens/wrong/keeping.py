"""Timers and purgatories that hold what is finished, or do not hold what waits."""

from functools import cached_property

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.purgatory import DelayedOperation, SmallPurgatory
from purgatory_conformance.specimens.small.timer import Bucket, SmallTimer, Task


@breaks("TIMER-RELEASES")
class CancelledStaysInItsSlot(SmallTimer):
    """The slot of a cancelled task keeps it, whatever turn the wheel makes."""

    @cached_property
    def slots(self) -> dict[int, list[Task]]:
        return {}

    def leave(self, task: Task) -> None:
        self.slots.setdefault(id(task.bucket), []).append(task)
        super().leave(task)


@breaks("TIMER-RELEASES")
class LastToRunIsCurrent(SmallTimer):
    """A field holds the task that ran last, until another one runs."""

    current: Task | None = None

    def run(self, task: Task) -> None:
        self.current = task
        super().run(task)


@breaks("TIMER-NOT-LATE", "TIMER-EXACTLY-ONCE", "TIMER-CASCADE").by(SmallTimer.empty)
def held_by_its_user_alone(self: SmallTimer, bucket: Bucket) -> list[Task]:
    """A bucket refers to its tasks weakly, and loses a task that its user has dropped."""
    return [task for task in SmallTimer.empty(self, bucket) if task.name in self.tasks]


@breaks("PURGATORY-RELEASES")
class CurrentOperationStays(SmallPurgatory):
    """A field holds the operation that was completed last."""

    current: DelayedOperation | None = None

    def complete(self, operation: DelayedOperation) -> None:
        self.current = operation
        super().complete(operation)


@breaks("PURGATORY-RELEASES")
class ExpiredStayInTheirListener(SmallPurgatory):
    """A list of callbacks that an expiry is to call keeps each operation that has expired."""

    @cached_property
    def called(self) -> list[DelayedOperation]:
        return []

    def call_on_expiration(self, operation: DelayedOperation) -> None:
        self.called.append(operation)
        super().call_on_expiration(operation)
