"""Timers that go wrong when tasks run, or when the timer is shut down."""

from purgatory_conformance.specimens.mutant import breaks
from purgatory_conformance.specimens.small.specimen import Refusal, ScriptFailure
from purgatory_conformance.specimens.small.timer import Script, SmallTimer, Task
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
