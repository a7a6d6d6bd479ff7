"""The bundled timer behind the step vocabulary: virtual clock, stepped or inline executor.

A timer takes three forms of task. The names that steps use take the forms in turn: an object of the
user's own class, a callable that is wrapped once, and a bare callable, which the timer wraps anew
for each arming. Delays take two forms in turn, too: integers, and objects with an ``__index__``. A
timer is shut down by the end of a ``with`` statement, and closed at the end of a case.
"""

import logging
from collections.abc import Callable

import msgspec

from purgatory_conformance.subjects.bundled.calls import (
    Refused,
    TellingExecutor,
    VirtualTime,
    call_timer,
)
from purgatory_conformance.subjects.dropped import Dropped
from purgatory_impl import (
    LARGEST_DELAY_MS,
    CallableTask,
    InlineExecutor,
    OneShotEnded,
    Task,
    Timer,
    TimerError,
    TimerTask,
    VirtualClock,
)
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, expired, ran
from purgatory_spec.reasons import Reason

PROFILE = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    release_cancelled=profiles.ReleaseCancelled.AT_ONCE,
    largest_delay_ms=LARGEST_DELAY_MS,
    severe_throw=profiles.SevereThrow.AS_ORDINARY,
    features=frozenset(profiles.Feature),
    observables=frozenset(profiles.Observable),
)
"""The profile of the bundled timer: everything that the suite can ask for."""

INLINE_PROFILE = msgspec.structs.replace(PROFILE, executor=profiles.Executor.INLINE)
"""The profile of a timer whose tasks run in the thread that made them expire."""


class Whole:
    """A whole number that is no ``int``."""

    def __init__(self, number: int) -> None:
        """Stand for a number that is no integer."""
        self._number = number

    def __index__(self) -> int:
        """Return the number."""
        return self._number


def in_two_forms(number: int) -> int | Whole:
    """Return an even number as it is, an odd one as an object with an ``__index__``."""
    return Whole(number) if number % 2 else number


class ScriptFailure(BaseException):
    """The severe exception that a task throws because its script says so."""


class OrdinaryScriptFailure(ScriptFailure, Exception):
    """The ordinary one."""


def failure_of(sort: op.ThrowSort) -> ScriptFailure:
    """Return the exception that a script throws."""
    return ScriptFailure() if sort is op.ThrowSort.SEVERE else OrdinaryScriptFailure()


def _is_news(record: logging.LogRecord) -> bool:
    """Decide whether a log record is about more than a task that throws by its script."""
    return not (record.exc_info and isinstance(record.exc_info[1], ScriptFailure))


logging.getLogger("purgatory").addFilter(_is_news)


class _OwnTask(TimerTask):
    """A task of a class of our own, which does what its name stands for."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__()
        self._action = action

    def run(self) -> None:
        self._action()


class _NamedTask:
    """The task of a name: it records its runs and carries out its script.

    ``task`` is the timer's own form of it; of a bare callable the one that was made last.
    """

    def __init__(self, name: str, form: int, instance: "TimerInstance") -> None:
        self.name = name
        self.script: tuple[op.Action, ...] = ()
        self.task: Task = _OwnTask(self.run) if form == 0 else CallableTask(self.run)
        self._is_bare = form == 2
        self._instance = instance

    def arm(self, delay_ms: int) -> None:
        """Add it to the timer; a bare callable is moved while it waits, and made a task anew."""
        timer, before, delay = self._instance.timer, self.task, in_two_forms(delay_ms)
        if self._is_bare and not isinstance(before, CallableTask):
            try:
                timer.add(before, delay)
            except OneShotEnded:
                pass
            else:
                return
        self._instance.armed_name = self.name if self._instance.is_told else ""
        added = timer.add(self.run if self._is_bare else before, delay)
        # It may have run by now, and have been added once more inside: then the later one stays.
        if self.task is before:
            self.task = added
        if self._instance.armed_name:  # it was not handed over at once
            self._instance.name_of[added] = self.name

    def run(self) -> None:
        instance = self._instance
        instance.events.append(ran(self.name))
        for action in self.script:
            try:
                instance.act(action)
            except TimerError as error:
                rejected = Event(EventKind.REJECTED, self.name, reason=error.reason)
                instance.events.append(rejected)


class TimerInstance:
    """A timer with clock and executor, and the tasks that steps have named."""

    def __init__(self, configuration: profiles.TimerConfiguration, *, inline: bool = False) -> None:
        """Make a fresh timer, with a stepped executor or an inline one."""
        self.events: list[Event] = []
        self.clock = VirtualClock(configuration.start_ms)
        # What goes to an inline executor has run in the same step: only the run is an event.
        self.executor = InlineExecutor() if inline else TellingExecutor(self._handed_over)
        self.is_told = not inline
        self.timer = Timer(
            tick_ms=configuration.tick_ms,
            wheel_size=configuration.wheel_size,
            clock=self.clock,
            executor=self.executor,
        )
        self._time = VirtualTime(self.clock, self.executor)
        self.name_of: dict[Task, str] = {}
        """The names of the pending tasks."""
        # A task that the timer makes of a callable may be handed over before anybody knows it.
        self.armed_name = ""
        self._tasks: dict[str, _NamedTask] = {}
        self._dropped = Dropped()

    def task(self, name: str) -> _NamedTask:
        """Return the task of this name."""
        if name not in self._tasks:
            self._tasks[name] = _NamedTask(name, len(self._tasks) % 3, self)
        return self._tasks[name]

    def act(self, action: op.Action) -> None:
        """Do one action of a running task."""
        match action:
            case op.Throw(sort):
                raise failure_of(sort)
            case op.AddInside(name, delay_ms):
                self.task(name).arm(delay_ms)
            case op.CancelInside(name):
                # By the task, and not by the timer as the operation does: two ways, one outcome.
                self.task(name).task.cancel()
                self.name_of.pop(self.task(name).task, None)
            case op.AdvanceInside():
                self.timer.advance()

    def do(self, operation: op.Operation) -> Outcome:
        """Carry out one operation and return its outcome."""
        self.events.clear()
        result: Value = None
        rejected = None
        try:
            result = self._perform(operation)
        except TimerError as error:
            rejected = error.reason
        except Refused:
            rejected = Reason.REFUSED
        except ScriptFailure:
            # Never of a right timer: the exception of a task has reached the caller.
            rejected = Reason.THROWN
        return Outcome(result, rejected, tuple(self.events), self._observe())

    def close(self) -> None:
        """Close the instance's timer."""
        self.timer.close()

    def _perform(self, operation: op.Operation) -> Value:
        if isinstance(operation, op.Add):
            self._add(self.task(operation.task), operation.delay_ms, operation.script)
            return None
        if isinstance(operation, op.Reachable):
            return self._is_reachable(operation.task)
        result = call_timer(self.timer, lambda name: self.task(name).task, operation, self._time)
        if isinstance(operation, op.Cancel):
            self.name_of.pop(self.task(operation.task).task, None)
        return result if isinstance(operation, op.Advance) else None

    def _is_reachable(self, name: str) -> bool:
        """Drop a task, which shares no circle of references with the timer's form of it then."""
        if name in self._tasks:
            del self._tasks[name].task
        return self._dropped.is_reachable(self._tasks, name)

    def _add(self, task: _NamedTask, delay_ms: int, script: tuple[op.Action, ...]) -> None:
        """Add a task with its script: it may run before this returns, or be refused."""
        before, task.script = task.script, script
        try:
            task.arm(delay_ms)
        except TimerError:
            task.script = before
            raise

    def _handed_over(self, task: Task) -> None:
        name = self.name_of.pop(task, self.armed_name)
        self.events.append(expired(name))
        if name == self.armed_name:
            self.armed_name = ""

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
