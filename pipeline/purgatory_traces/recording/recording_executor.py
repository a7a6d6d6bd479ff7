"""An executor between a timer and the real executor: records tasks handed over and tasks run."""

from collections.abc import Callable, Iterable
from typing import Final

from purgatory_impl import Executor, SteppedExecutor, Task, TimerTask
from purgatory_spec.outcomes import EventKind
from purgatory_traces.recording.recorder import Recorder


class _Run(TimerTask):
    """A run of an expired task, as it waits in the executor's queue."""

    __slots__ = ("_between", "_task")

    def __init__(self, between: "RecordingExecutor", task: Task) -> None:
        super().__init__()
        self._between = between
        self._task = task

    def run(self) -> None:
        """Let the task run, and write down that it does."""
        between = self._between
        between.recorder.enter()
        try:
            between.waiting.pop(self, None)
            if between.ran is not None:
                between.recorder.event(between.ran, between.name_of(self._task))
            self._task.run()
        finally:
            between.recorder.leave()


class RecordingExecutor(Executor):
    """Hands on to an executor; tasks that run are inside the recorder's gate."""

    def __init__(
        self,
        recorder: Recorder,
        executor: Executor,
        name_of: Callable[[Task], str],
        ran: EventKind | None,
    ) -> None:
        """Stand in front of an executor.

        Args:
            recorder: Whom to tell.
            executor: Who runs tasks.
            name_of: The name of a task in the trace.
            ran: The event recorded when a task runs; None for tasks that record their own runs.
        """
        super().__init__()
        self.recorder: Final = recorder
        self.name_of: Final = name_of
        self.ran: Final = ran
        self.waiting: Final[dict[_Run, Task]] = {}
        """The runs that were handed on and have not begun, with their tasks, first to run first."""
        self._executor = executor
        self._tells_of_expiry = isinstance(executor, SteppedExecutor)

    @property
    def queued(self) -> int:
        """Return the number of tasks in the executor's queue."""
        return self._executor.queued

    def wake(self) -> None:
        """Wake the recorded executor."""
        self._executor.wake()

    def hand_over(self, tasks: Iterable[Task]) -> None:
        """Queue the runs of tasks; the timer calls this under its lock."""
        runs = {_Run(self, task): task for task in tasks}
        if self._tells_of_expiry:
            for task in runs.values():
                self.recorder.event(EventKind.EXPIRED, self.name_of(task))
        self.waiting.update(runs)
        self._executor.hand_over(runs)
