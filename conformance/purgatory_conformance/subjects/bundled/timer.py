"""The bundled timer behind the step vocabulary: virtual clock, stepped or inline executor.

Where tasks run inline they are given as callables, which is the other way to use the timer.
"""

import logging
from collections.abc import Callable, Iterable

import msgspec

from purgatory_impl import (
    LARGEST_DELAY_MS,
    InlineExecutor,
    OneShotEnded,
    SteppedExecutor,
    Task,
    Timer,
    TimerError,
    TimerTask,
    VirtualClock,
)
from purgatory_spec.operations import (
    Action,
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    CancelInside,
    Elapse,
    Operation,
    RunOne,
    Shutdown,
    Throw,
)
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, expired, ran
from purgatory_spec.profiles import (
    Executor,
    Feature,
    Observable,
    Structure,
    TimerConfiguration,
    TimerProfile,
)

PROFILE = TimerProfile(
    executor=Executor.STEPPED,
    structure=Structure.DELAY_QUEUE_WHEEL,
    largest_delay_ms=LARGEST_DELAY_MS,
    features=frozenset(Feature),
    observables=frozenset(Observable),
)
"""What the bundled timer declares: everything that the suite can ask for."""

INLINE_PROFILE = msgspec.structs.replace(PROFILE, executor=Executor.INLINE)
"""The profile of a timer whose tasks run in the thread that made them expire."""


class ScriptFailure(Exception):
    """The exception that a task throws because its script says so."""


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a log record tells of something else than a task that throws by its script."""
    return not (record.exc_info and isinstance(record.exc_info[1], ScriptFailure))


logging.getLogger("purgatory").addFilter(_is_news)


class _ScriptedTask(TimerTask):
    """A task with a name, which records its run and carries out its script."""

    def __init__(self, name: str, instance: "TimerInstance") -> None:
        super().__init__()
        self.name = name
        self.script: tuple[Action, ...] = ()
        self._instance = instance

    def run(self) -> None:
        instance = self._instance
        instance.events.append(ran(self.name))
        for action in self.script:
            try:
                instance.act(action)
            except TimerError as error:
                rejected = Event(EventKind.REJECTED, self.name, reason=error.reason)
                instance.events.append(rejected)


class _RecordingExecutor(SteppedExecutor):
    """A stepped executor that reports what the timer hands over."""

    def __init__(self, report: Callable[[Event], None]) -> None:
        super().__init__()
        self._report = report

    def hand_over(self, tasks: Iterable[Task]) -> None:
        handed = list(tasks)
        for task in handed:
            assert isinstance(task, _ScriptedTask)
            self._report(expired(task.name))
        super().hand_over(handed)


class TimerInstance:
    """A timer with clock and executor, and the tasks that steps have named."""

    def __init__(self, configuration: TimerConfiguration, *, inline: bool = False) -> None:
        """Make a fresh timer, with a stepped executor or an inline one."""
        self.events: list[Event] = []
        self.clock = VirtualClock(configuration.start_ms)
        # What goes to an inline executor has run in the same step: only the run is an event.
        self.executor = InlineExecutor() if inline else _RecordingExecutor(self.events.append)
        self.timer = Timer(
            tick_ms=configuration.tick_ms,
            wheel_size=configuration.wheel_size,
            clock=self.clock,
            executor=self.executor,
        )
        self._tasks: dict[str, _ScriptedTask] = {}
        # What the timer has made of the callables, the last one for each name.
        self._one_shots: dict[str, Task] = {}

    def task(self, name: str) -> _ScriptedTask:
        """The task of this name."""
        if name not in self._tasks:
            self._tasks[name] = _ScriptedTask(name, self)
        return self._tasks[name]

    def act(self, action: Action) -> None:
        """One action of a running task."""
        match action:
            case Throw():
                raise ScriptFailure
            case AddInside(name, delay_ms):
                self._arm(self.task(name), delay_ms)
            case CancelInside(name):
                # By the task, and not by the timer as the operation does: two ways, one outcome.
                self._armed(name).cancel()
            case AdvanceInside():
                self.timer.advance()

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        self.events.clear()
        result: Value = None
        rejected = None
        try:
            result = self._perform(operation)
        except TimerError as error:
            rejected = error.reason
        return Outcome(result, rejected, tuple(self.events), self._observe())

    def close(self) -> None:
        """Close the timer."""
        self.timer.close()

    def _perform(self, operation: Operation) -> Value:
        match operation:
            case Add(name, delay_ms, script):
                self._add(self.task(name), delay_ms, script)
            case Cancel(name):
                self.timer.cancel(self._armed(name))
            case Elapse(to_ms):
                self.clock.set_ms(to_ms)
            case Advance(to_ms):
                self.clock.set_ms(to_ms)
                return self.timer.advance()
            case RunOne() if isinstance(self.executor, SteppedExecutor):
                self.executor.run_one()
            case Shutdown():
                self.timer.close()
            case _:
                raise ValueError(f"no such operation on a virtual clock: {operation}")
        return None

    def _add(self, task: _ScriptedTask, delay_ms: int, script: tuple[Action, ...]) -> None:
        """Add a task with its script: it may run before this returns, or be refused."""
        before, task.script = task.script, script
        try:
            self._arm(task, delay_ms)
        except TimerError:
            task.script = before
            raise

    def _arm(self, task: _ScriptedTask, delay_ms: int) -> None:
        """Add a task: itself, or as a callable, of which a pending one-shot task is moved."""
        if isinstance(self.executor, SteppedExecutor):
            self.timer.add(task, delay_ms)
            return
        last = self._one_shots.get(task.name)
        if last is not None:
            try:
                self.timer.add(last, delay_ms)
            except OneShotEnded:
                pass
            else:
                return
        added = self.timer.add(task.run, delay_ms)
        # The task may have run by now, and have added a later one-shot task: then keep the later.
        if self._one_shots.get(task.name) is last:
            self._one_shots[task.name] = added

    def _armed(self, name: str) -> Task:
        """The task of this name as the timer knows it."""
        return self._one_shots.get(name) or self.task(name)

    def _observe(self) -> dict[str, Value]:
        timer = self.timer
        return {
            "size": timer.size,
            "queued": self.executor.queued,
            "wheel_clock_ms": timer.wheel_clock_ms,
            "queued_buckets": timer.queued_buckets,
            "next_expiry_ms": timer.next_expiry_ms,
            "levels": timer.levels,
        }
