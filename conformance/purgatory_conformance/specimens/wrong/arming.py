"""Timers that go wrong when a task is added again or cancelled, or that count wrongly."""

from dataclasses import replace

from purgatory_conformance.specimens.small.timer import Fate, SmallTimer, Task
from purgatory_spec.operations import Action


class ReaddLeavesOldArming(SmallTimer):
    """Adding a pending task again leaves the old arming, so that it fires twice."""

    def move_away(self, task: Task) -> None:
        """Another entry of the same task stays in the bucket, though not in the count."""
        assert task.bucket is not None
        entries = task.bucket.tasks
        entries[entries.index(task)] = replace(task)
        self.pending -= 1


class ReaddCountsTwice(SmallTimer):
    """Adding a pending task again moves it, but counts it once more."""

    def move_away(self, task: Task) -> None:
        """Leaves the bucket, not the count."""
        self.leave(task)


class ReaddIgnored(SmallTimer):
    """Adding a pending task again changes nothing."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """The first arming stays."""
        self.refuse(delay_ms)
        if task.fate is not Fate.PENDING:
            super().add(task, delay_ms, script)


class CancelSticks(SmallTimer):
    """A task that was cancelled once cannot be armed again."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """A flag that nobody takes back."""
        self.refuse(delay_ms)
        if task.fate is not Fate.CANCELLED:
            super().add(task, delay_ms, script)


class OnlyOnce(SmallTimer):
    """A task that has expired once cannot be armed again."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """One expiry for the life of a task."""
        self.refuse(delay_ms)
        if task.fate is not Fate.EXPIRED:
            super().add(task, delay_ms, script)


class ReaddTakesQueuedRun(SmallTimer):
    """Adding a task that waits for the executor takes it out of the executor's queue."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """That run and the new arming are made one."""
        self.refuse(delay_ms)
        if task in self.queue:
            self.queue.remove(task)
        super().add(task, delay_ms, script)


class CancelForgetsCount(SmallTimer):
    """Cancelling a pending task does not change the size."""

    def cancel(self, task: Task) -> None:
        """Out of the bucket, still in the count."""
        if task.fate is Fate.PENDING:
            task.fate = Fate.CANCELLED
            self.leave(task)


class CancelledStillFires(SmallTimer):
    """A cancelled task is not counted any more, but expires."""

    def cancel(self, task: Task) -> None:
        """Still in its bucket, out of the count."""
        if task.fate is Fate.PENDING:
            task.fate = Fate.CANCELLED
            self.pending -= 1


class CancelIgnored(SmallTimer):
    """Cancelling has no effect (reactor#371); the timer shows nothing but events."""

    def cancel(self, task: Task) -> None:
        """Does nothing."""


class CancelCountsTwice(SmallTimer):
    """Cancelling a cancelled task makes the size smaller once more (apache/hertzbeat#3173)."""

    def cancel(self, task: Task) -> None:
        """Counts the call."""
        if task.fate is Fate.CANCELLED:
            self.pending -= 1
        super().cancel(task)


class CancelFiredCounts(SmallTimer):
    """Cancelling a task that has run makes the size smaller."""

    def cancel(self, task: Task) -> None:
        """Counts the call."""
        if task.fate is Fate.EXPIRED and task not in self.queue:
            self.pending -= 1
        super().cancel(task)


class CancelUnknownFails(SmallTimer):
    """Cancelling a task that was never added is an error."""

    def cancel(self, task: Task) -> None:
        """Looks for the bucket of a task that was never armed."""
        if task.fate is Fate.NEVER_ARMED:
            raise KeyError(task.name)
        super().cancel(task)


class CancelTakesQueuedRun(SmallTimer):
    """Cancelling a task that waits for the executor takes it out of the executor's queue."""

    def cancel(self, task: Task) -> None:
        """Reaches into what the timer no longer owns."""
        if task in self.queue:
            self.queue.remove(task)
        super().cancel(task)


class SizeCountsQueued(SmallTimer):
    """The size counts tasks that wait for the executor."""

    def size(self) -> int:
        """All that has not run."""
        return super().size() + len(self.queue)
