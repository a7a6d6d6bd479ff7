"""Timers that go wrong when tasks run, or when the timer is shut down."""

from contextlib import suppress

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.specimen import Refusal, ScriptFailure
from purgatory_conformance.specimens.small.timer import Fate, Script, SmallTimer, Task
from purgatory_spec.operations import Action, AddInside, AdvanceInside, CancelInside
from purgatory_spec.reasons import Reason


@breaks("TIMER-EXECUTOR-ORDER").by(SmallTimer.next_to_run)
def last_in_first_out(self: SmallTimer) -> Task:
    """The executor runs the task that came last."""
    return self.queue.pop()


@breaks("TIMER-THROWING-TASK").by(SmallTimer.run)
def throw_loses_batch(self: SmallTimer, task: Task) -> None:
    """A throwing task discards the tasks queued behind it."""
    try:
        SmallTimer.run(self, task)
    except ScriptFailure:
        self.queue.clear()
        raise


@breaks("TIMER-THROWING-TASK").by(SmallTimer.run)
def throw_escapes(self: SmallTimer, task: Task) -> None:
    """The exception of a task that throws reaches the caller."""
    try:
        SmallTimer.run(self, task)
    except ScriptFailure as failure:
        raise RuntimeError("a task failed") from failure


@breaks("TIMER-THROWING-TASK").by(SmallTimer.run)
def throw_closes_timer(self: SmallTimer, task: Task) -> None:
    """A throwing task ends the timer's thread, so that no task expires any more."""
    try:
        SmallTimer.run(self, task)
    except ScriptFailure:
        self.delay_queue.clear()
        raise


@breaks("TIMER-ADD-INSIDE").by(SmallTimer.act)
def add_inside_lost(self: SmallTimer, action: Action) -> None:
    """A task that a running task adds is lost."""
    if not isinstance(action, AddInside):
        SmallTimer.act(self, action)


@breaks("TIMER-CANCEL-INSIDE").by(SmallTimer.act)
def cancel_inside_ignored(self: SmallTimer, action: Action) -> None:
    """A cancel by a running task has no effect."""
    if not isinstance(action, CancelInside):
        SmallTimer.act(self, action)


@breaks("TIMER-ADVANCE-INSIDE").by(SmallTimer.act)
def advance_inside_ignored(self: SmallTimer, action: Action) -> None:
    """An advance by a running task has no effect."""
    if not isinstance(action, AdvanceInside):
        SmallTimer.act(self, action)


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.keep)
def refused_are_dropped(self: SmallTimer, due: list[Task]) -> None:
    """Tasks that the executor refuses are dropped."""
    self.pending -= len(due)
    for task in due:
        task.fate = Fate.EXPIRED


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.keep)
def rest_of_batch_is_dropped(self: SmallTimer, due: list[Task]) -> None:
    """Of the tasks of an advance the first one is kept, and those behind it are dropped."""
    SmallTimer.keep(self, due[:1])
    self.pending -= len(due) - 1
    for task in due[1:]:
        task.fate = Fate.EXPIRED


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.keep)
def refused_are_stranded(self: SmallTimer, due: list[Task]) -> None:
    """Refused tasks stay in their bucket, which is not queued before another task comes in."""
    for task in due:
        if task.bucket is not None and task.bucket is not self.kept:
            task.bucket.tasks.append(task)


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.keep)
def refused_run_twice(self: SmallTimer, due: list[Task]) -> None:
    """The caller runs what the executor refuses, and the next advance hands it over again."""
    for task in due:
        with suppress(ScriptFailure):
            self.run(task)
    SmallTimer.keep(self, due)


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.refused)
def refusal_is_unforeseen(self: SmallTimer, due: list[Task]) -> None:
    """The executor's exception becomes another one, which nobody foresees."""
    self.keep(due)
    raise AttributeError


@breaks("TIMER-EXECUTOR-REFUSES").by(SmallTimer.leave)
def refused_cannot_be_cancelled(self: SmallTimer, task: Task) -> None:
    """A refused task that is cancelled, or moved, expires all the same."""
    if task.bucket is not self.kept:
        SmallTimer.leave(self, task)


@breaks("TIMER-SHUTDOWN-DROPS")
class ShutdownKeepsPending(SmallTimer):
    """Tasks that were pending at shutdown still expire."""

    def shutdown(self) -> None:
        self.closed = True

    def advance(self) -> bool:
        closed, self.closed = self.closed, False
        popped = super().advance()
        self.closed = closed
        return popped


@breaks("TIMER-SHUTDOWN-QUEUE").by(SmallTimer.shutdown)
def shutdown_empties_queue(self: SmallTimer) -> None:
    """Shutting down drops the tasks that wait for the executor."""
    self.queue.clear()
    SmallTimer.shutdown(self)


@breaks("TIMER-SHUTDOWN-CLOSED").by(SmallTimer.add)
def taken_after_shutdown(
    self: SmallTimer, task: Task, delay_ms: int, script: Script = None
) -> None:
    """After shutdown a task is taken silently, and never runs (Kafka)."""
    if not self.closed:
        SmallTimer.add(self, task, delay_ms, script)


@breaks("TIMER-SHUTDOWN-AGAIN").by(SmallTimer.shutdown)
def shutdown_twice_fails(self: SmallTimer) -> None:
    """Shutting down a second time is an error."""
    if self.closed:
        raise Refusal(Reason.CLOSED)
    SmallTimer.shutdown(self)
