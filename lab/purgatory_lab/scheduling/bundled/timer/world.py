"""The bundled timer in a run: clock, executor, tasks, calls, and the checks of what is left."""

from collections import Counter
from collections.abc import Iterator, Sequence
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
from purgatory_impl.bucket import Bucket
from purgatory_impl.wheel import Level
from purgatory_lab.scheduling.history import RecordedHistory
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_spec import operations as op
from purgatory_spec.operations import Add, Shutdown
from purgatory_spec.outcomes import Value, expired, ran
from purgatory_spec.reasons import Reason

TICK_MS: Final = 1
WHEEL_SIZE: Final = 2

_FAR_MS: Final = 1_000_000
"""A time later than any expiry of a scenario."""

ELSEWHERE: Final = "elsewhere"
"""The thread of this name uses a second timer."""


class ScheduledTask(TimerTask):
    """A task for a scheduled run, which counts its runs."""

    def __init__(self, name: str, world: "TimerWorld") -> None:
        super().__init__()
        self.name = name
        self.runs = 0
        self._world = world

    def run(self) -> None:
        """Count the run, and note it in the history."""
        self._world.scheduler.reach("runs", self)
        self.runs += 1
        self._world.history.happened(ran(self.name))


class TimerWorld:
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

    def observe(self) -> None:
        """Read what the timer shows in the running thread."""
        self.scheduler.mark("looks at the timer")
        assert self.timer.size >= 0
        assert self.timer.queued_buckets >= 0

    def inspect(self) -> list[str]:
        """Return no problem: every invariant is under the timer's lock."""
        return []

    def problems(self) -> list[str]:
        """Return the problems of the timer after the return of every call."""
        return _problems(self)

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


_MOST_TASKS: Final = 100


def _problems(tested: TimerWorld) -> list[str]:
    """Return all problems of the timer at rest; wrong links are reported alone."""
    if wrong := list(_linked_right(tested)):
        return wrong
    return [
        *_not_late(tested),
        *_run_as_often_as_armed(tested),
    ]


def _linked_right(tested: TimerWorld) -> Iterator[str]:
    """Yield the wrong links between buckets, pending tasks and the delay queue.

    Rules: TIMER-SIZE, TIMER-BUCKET-REUSE.
    """
    for timer in (tested.timer, tested.other):
        held: list[Task] = []
        for level in timer._wheel.all_levels():
            for slot, bucket in enumerate(level.buckets):
                inside = _tasks_of(bucket)
                held += inside
                if bool(level.queued >> slot & 1) != bucket.queued:
                    yield f"a bucket and the delay queue disagree on slot {slot}"
                if inside and not bucket.queued:
                    yield f"a bucket with {len(inside)} tasks is not in the delay queue"
            if level.queued and level.first_ms != _earliest_ms(level):
                yield f"the first bucket of a level expires at {_earliest_ms(level)} ms"
        pending = [task for task in tested.tasks.values() if _is_pending(task, timer)]
        if Counter(held) != Counter(pending):
            yield f"{len(pending)} tasks are pending, the buckets hold {len(held)}"
        if timer.size != len(pending):
            yield f"size is {timer.size}, and {len(pending)} tasks are pending"


def _earliest_ms(level: Level) -> int:
    return min(bucket.expiry_ms for bucket in level.buckets if bucket.queued)


def _tasks_of(bucket: Bucket) -> list[Task]:
    """Return the tasks of a bucket; not all of a ring that does not come back to its bucket."""
    tasks: list[Task] = []
    task = bucket.first()
    while task is not None and len(tasks) < _MOST_TASKS:
        tasks.append(task)
        task = bucket.behind(task)
    return tasks


def _is_pending(task: Task, timer: Timer) -> bool:
    return task._timer is timer and task._next is not None


def _not_late(tested: TimerWorld) -> Iterator[str]:
    """Yield the due tasks that have not run when the timer's own threads rest.

    Rules: TIMER-NOT-LATE, TIMER-WAKE-UP.
    """
    for name in tested.late:
        yield f"{name} is due, and nobody has run it"


def _run_as_often_as_armed(tested: TimerWorld) -> Iterator[str]:
    """Yield the tasks that ran too often, or are left when everything pending has come due.

    Rules: TIMER-EXACTLY-ONCE, TIMER-CANCEL.
    """
    closed = any(isinstance(operation, Shutdown) for operation in tested.history.called())
    owed = Counter(
        operation.task
        for operation, returned in tested.history.calls()
        if isinstance(operation, Add) and returned.raised is None
    )
    before = {task.name: task.runs for task in tested.tasks.values()}
    pending = [task.name for task in tested.tasks.values() if task._next is not None]
    if not tested.own_threads:
        tested.settle()
    for task in tested.tasks.values():
        if task.runs > owed[task.name]:
            yield f"{task.name} was armed {owed[task.name]} times and ran {task.runs} times"
        if task.name in pending and task.runs == before[task.name] and not closed:
            yield f"{task.name} was pending, and has not run"
    for timer in (tested.timer, tested.other):
        if timer.size:
            yield f"size is {timer.size} after everything has come due"
