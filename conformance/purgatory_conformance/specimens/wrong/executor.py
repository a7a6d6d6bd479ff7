"""Timers that go wrong when tasks run, or when the timer is shut down."""

from purgatory_conformance.specimens.small.timer import Refusal, ScriptFailure, SmallTimer, Task
from purgatory_spec.operations import Action, AddInside, AdvanceInside, CancelInside
from purgatory_spec.reasons import Reason


class LastInFirstOut(SmallTimer):
    """The executor runs the task that came last."""

    def next_to_run(self) -> Task:
        """A stack for a queue."""
        return self.queue.pop()


class ThrowLosesBatch(SmallTimer):
    """A throwing task discards the tasks queued behind it."""

    def run(self, task: Task) -> None:
        """The loop over the batch is left."""
        try:
            super().run(task)
        except ScriptFailure:
            self.queue.clear()
            raise


class ThrowEscapes(SmallTimer):
    """The exception of a task that throws reaches the caller."""

    def run(self, task: Task) -> None:
        """Nobody catches it."""
        try:
            super().run(task)
        except ScriptFailure as failure:
            raise RuntimeError("a task failed") from failure


class ThrowClosesTimer(SmallTimer):
    """After a task has thrown no task expires any more: the timer's thread has died."""

    def run(self, task: Task) -> None:
        """Whoever advances is gone."""
        try:
            super().run(task)
        except ScriptFailure:
            self.delay_queue.clear()
            raise


class AddInsideLost(SmallTimer):
    """A task that a running task adds is lost."""

    def act(self, action: Action) -> None:
        """The add is overwritten when the run ends."""
        if not isinstance(action, AddInside):
            super().act(action)


class CancelInsideIgnored(SmallTimer):
    """A cancel by a running task has no effect."""

    def act(self, action: Action) -> None:
        """A lock that cannot be taken twice is not waited for."""
        if not isinstance(action, CancelInside):
            super().act(action)


class AdvanceInsideIgnored(SmallTimer):
    """An advance by a running task has no effect."""

    def act(self, action: Action) -> None:
        """A lock that cannot be taken twice is not waited for."""
        if not isinstance(action, AdvanceInside):
            super().act(action)


class ShutdownKeepsPending(SmallTimer):
    """Tasks that were pending at shutdown still expire."""

    def shutdown(self) -> None:
        """Only adding is closed."""
        self.closed = True

    def advance(self) -> bool:
        """Goes on as ever."""
        closed, self.closed = self.closed, False
        popped = super().advance()
        self.closed = closed
        return popped


class ShutdownEmptiesQueue(SmallTimer):
    """Shutting down drops the tasks that wait for the executor."""

    def shutdown(self) -> None:
        """Everything goes."""
        self.queue.clear()
        super().shutdown()


class TakenAfterShutdown(SmallTimer):
    """After shutdown a task is taken silently, and never runs (Kafka)."""

    def add(self, task: Task, delay_ms: int, script: tuple[Action, ...] | None = None) -> None:
        """Into a bucket that nobody will pop."""
        if not self.closed:
            super().add(task, delay_ms, script)


class ShutdownTwiceFails(SmallTimer):
    """Shutting down a second time is an error."""

    def shutdown(self) -> None:
        """There is nothing left to shut down."""
        if self.closed:
            raise Refusal(Reason.CLOSED)
        super().shutdown()
