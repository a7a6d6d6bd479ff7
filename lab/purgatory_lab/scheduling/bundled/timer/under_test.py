"""The bundled timer in a run: its clock, its executor, its tasks, and the calls of programs."""

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from purgatory_conformance.subjects.bundled.calls import TellingExecutor, VirtualTime, call_timer
from purgatory_impl import (
    Executor,
    InlineExecutor,
    SteppedExecutor,
    Task,
    Timer,
    TimerError,
    TimerTask,
    VirtualClock,
)
from purgatory_lab.scheduling.history import RecordedHistory
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Value, expired, ran
from purgatory_spec.reasons import Reason

TICK_MS: Final = 1
WHEEL_SIZE: Final = 2

_FAR_MS: Final = 1_000_000
"""Later than any expiry of a scenario."""

ELSEWHERE: Final = "elsewhere"
"""The thread of this name uses a second timer."""


class ScheduledTask(TimerTask):
    """A task for a scheduled run, which counts its runs."""

    def __init__(self, name: str, world: "TimerUnderTest") -> None:
        super().__init__()
        self.name = name
        self.runs = 0
        self._world = world

    def run(self) -> None:
        """Count the run, and note it in the history."""
        self._world.scheduler.reach("runs", self)
        self.runs += 1
        self._world.history.happened(ran(self.name))


class TimerUnderTest:
    """A timer, or two on one clock, and the tasks of the programs.

    Attributes:
        history: Calls, events and returns in the order in which they happened.
        late: Tasks that were due and had not run when the timer's own threads were at rest.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        executor: Literal["stepped", "inline", "thread"] = "stepped",
        reaper: bool = False,
    ) -> None:
        """Make a fresh timer, with two buckets on each level.

        Args:
            scheduler: The scheduler of the timer's threads.
            executor: Who runs tasks; with ``thread`` a thread of the timer's own.
            reaper: Whether a thread of the timer's own advances it.
        """
        self.scheduler = scheduler
        self.history = RecordedHistory(scheduler)
        self.clock = VirtualClock()
        self.executor: Executor | None = None
        if executor == "stepped":
            self.executor = TellingExecutor(self._handed_over)
        elif executor == "inline":
            self.executor = InlineExecutor()
        self.timer = Timer(
            tick_ms=TICK_MS,
            wheel_size=WHEEL_SIZE,
            clock=self.clock,
            executor=self.executor,
            reaper=reaper,
        )
        self.other = Timer(
            tick_ms=TICK_MS, wheel_size=WHEEL_SIZE, clock=self.clock, executor=SteppedExecutor()
        )
        self._time = VirtualTime(self.clock, self.executor)
        self.tasks: dict[str, ScheduledTask] = {}
        self.own_threads = reaper or executor == "thread"
        self.late: list[str] = []

    def prepare(self, operations: Sequence[op.Operation]) -> None:
        """Make the tasks that the programs name."""
        for operation in operations:
            if isinstance(operation, op.Add | op.Cancel) and operation.task not in self.tasks:
                self.tasks[operation.task] = ScheduledTask(operation.task, self)

    def perform(self, operation: op.Operation) -> None:
        """Carry out a call in the running thread, and note it with its result."""
        self.history.call(operation, partial(self._carry_out_or_refuse, operation))

    def close(self) -> None:
        """See what is late although nobody can go on, and end the timer's own threads."""
        if self.own_threads:
            with self.scheduler.unobserved():
                self.late = self._due()
            self.timer.close()

    def observed(self) -> dict[str, Value]:
        """Return the observables while no call is under way."""
        timer = self.timer
        observed: dict[str, Value] = {"queued": len(timer._executor._waiting)}
        if not timer._closed:
            observed["size"] = timer.size
            observed["wheel_clock_ms"] = timer.wheel_clock_ms
            observed["queued_buckets"] = timer.queued_buckets
            observed["next_expiry_ms"] = timer.next_expiry_ms
            observed["levels"] = timer.levels
        return observed

    def settle(self) -> None:
        """Let every pending task expire and run."""
        self.clock.set_ms(_FAR_MS)
        for timer in (self.timer, self.other):
            timer.advance()
            executor = timer._executor
            while isinstance(executor, SteppedExecutor) and executor.run_one():
                pass

    def _handed_over(self, task: Task) -> None:
        assert isinstance(task, ScheduledTask)
        self.history.happened(expired(task.name))

    def _carry_out_or_refuse(self, operation: op.Operation) -> tuple[Value, Reason | None]:
        try:
            return self._carry_out(operation), None
        except TimerError as error:
            return None, error.reason

    def _carry_out(self, operation: op.Operation) -> Value:
        timer = self.other if self.history.thread() == ELSEWHERE else self.timer
        return call_timer(timer, self.tasks.__getitem__, operation, self._time)

    def _due(self) -> list[str]:
        """Return the tasks that are due and have not run."""
        waiting = set(self.timer._executor._waiting.tasks())
        now_ms = self.clock.now_ms()
        return [
            task.name
            for task in self.tasks.values()
            if task in waiting or (task._next is not None and task._expiry_ms <= now_ms)
        ]
