"""Timers that go wrong when a task is added again or cancelled, or that count wrongly."""

from dataclasses import replace

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.timer import (
    SILENT_PROFILE,
    Fate,
    Script,
    SmallTimer,
    Task,
)


@breaks("TIMER-READD-PENDING").by(SmallTimer.move_away)
def readd_leaves_old_arming(self: SmallTimer, task: Task) -> None:
    """Adding a pending task again leaves the old arming, so that it fires twice."""
    assert task.bucket is not None
    entries = task.bucket.tasks
    entries[entries.index(task)] = replace(task)
    self.pending -= 1


@breaks("TIMER-READD-PENDING").by(SmallTimer.move_away)
def readd_counts_twice(self: SmallTimer, task: Task) -> None:
    """Adding a pending task again moves it, but counts it once more."""
    self.leave(task)


@breaks("TIMER-READD-PENDING").by(SmallTimer.add)
def readd_ignored(self: SmallTimer, task: Task, delay_ms: int, script: Script = None) -> None:
    """Adding a pending task again changes nothing."""
    self.refuse(delay_ms)
    if task.fate is not Fate.PENDING:
        SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-READD-CANCELLED").by(SmallTimer.add)
def cancel_sticks(self: SmallTimer, task: Task, delay_ms: int, script: Script = None) -> None:
    """A task that was cancelled once cannot be armed again."""
    self.refuse(delay_ms)
    if task.fate is not Fate.CANCELLED:
        SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-READD-FIRED").by(SmallTimer.add)
def only_once(self: SmallTimer, task: Task, delay_ms: int, script: Script = None) -> None:
    """A task that has expired once cannot be armed again."""
    self.refuse(delay_ms)
    if task.fate is not Fate.EXPIRED:
        SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-READD-FIRED").by(SmallTimer.add)
def readd_takes_queued_run(
    self: SmallTimer, task: Task, delay_ms: int, script: Script = None
) -> None:
    """Adding a task that waits for the executor takes it out of the executor's queue."""
    self.refuse(delay_ms)
    if task in self.queue:
        self.queue.remove(task)
    SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-SIZE").by(SmallTimer.cancel)
def cancel_forgets_count(self: SmallTimer, task: Task) -> None:
    """Cancelling a pending task does not change the size."""
    if task.fate is Fate.PENDING:
        task.fate = Fate.CANCELLED
        self.leave(task)


@breaks("TIMER-CANCEL", "TIMER-ADVANCE-INSIDE").by(SmallTimer.cancel)
def cancelled_still_fires(self: SmallTimer, task: Task) -> None:
    """A cancelled task is not counted any more, but expires."""
    if task.fate is Fate.PENDING:
        task.fate = Fate.CANCELLED
        self.pending -= 1


@breaks("TIMER-CANCEL", profile=SILENT_PROFILE).by(SmallTimer.cancel)
def cancel_ignored(self: SmallTimer, task: Task) -> None:
    """Cancelling has no effect (reactor#371); the timer shows nothing but events."""


@breaks("TIMER-CANCEL-AGAIN").by(SmallTimer.cancel)
def cancel_counts_twice(self: SmallTimer, task: Task) -> None:
    """Cancelling a cancelled task makes the size smaller once more (apache/hertzbeat#3173)."""
    if task.fate is Fate.CANCELLED:
        self.pending -= 1
    SmallTimer.cancel(self, task)


@breaks("TIMER-CANCEL-FIRED", "TIMER-CANCEL-INSIDE").by(SmallTimer.cancel)
def cancel_fired_counts(self: SmallTimer, task: Task) -> None:
    """Cancelling a task that has run makes the size smaller."""
    if task.fate is Fate.EXPIRED and task not in self.queue:
        self.pending -= 1
    SmallTimer.cancel(self, task)


@breaks("TIMER-CANCEL-UNKNOWN").by(SmallTimer.cancel)
def cancel_unknown_fails(self: SmallTimer, task: Task) -> None:
    """Cancelling a task that was never added is an error."""
    if task.fate is Fate.NEVER_ARMED:
        raise KeyError(task.name)
    SmallTimer.cancel(self, task)


@breaks("TIMER-CANCEL-TOO-LATE").by(SmallTimer.cancel)
def cancel_takes_queued_run(self: SmallTimer, task: Task) -> None:
    """Cancelling a task that waits for the executor takes it out of the executor's queue."""
    if task in self.queue:
        self.queue.remove(task)
    SmallTimer.cancel(self, task)


@breaks("TIMER-SIZE").by(SmallTimer.size)
def size_counts_queued(self: SmallTimer) -> int:
    """The size counts tasks that wait for the executor."""
    return SmallTimer.size(self) + len(self.queue)
