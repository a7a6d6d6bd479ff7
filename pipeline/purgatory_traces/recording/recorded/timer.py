"""A timer that records itself: the one of ``purgatory_impl``, with a recorder.

    with RecordedTimer(Recorder(Path("timer.jsonl"), "timer of node 7")) as timer:
        task = timer.add(refresh, 250)

On the real clock each call is two lines, its beginning and its return, and each run of a task is
one. On a ``RecordedClock`` each call is one line, with all that happened in it.

Names. A task that the timer makes of a callable has a number for a name, or the one that ``task``
was given. Any other task is named by its identity. That name may later be another task's, but not
before this one is garbage, and so neither armed nor about to run: no name is remembered.
"""

from collections.abc import Callable
from typing import Self

from purgatory_impl import (
    LARGEST_DELAY_MS,
    Delay,
    Executor,
    InlineExecutor,
    PurgatoryError,
    SteppedExecutor,
    Task,
    ThreadExecutor,
    Timer,
    TimerTask,
)
from purgatory_impl.arguments import whole_ms
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Cancel, Shutdown
from purgatory_spec.outcomes import EventKind
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.recording.recording_executor import RecordingExecutor
from purgatory_traces.recording.step_recorder import RecordedClock
from purgatory_traces.traces.lines import PendingTask, Snapshot, TimerInstance


class NamedTask(TimerTask):
    """A task with a name."""

    __slots__ = ("_call", "name")

    def __init__(self, action: Callable[[], object], name: str) -> None:
        super().__init__()
        self._call = action
        self.name = name

    def run(self) -> None:
        """Call the action of the task."""
        self._call()


class RecordedTimer(Timer):
    """A timer whose calls are recorded, and the runs of its tasks."""

    __slots__ = ("_between", "_executor_of_its_own", "_recorder")

    def __init__(
        self,
        recorder: Recorder,
        *,
        tick_ms: int = 1,
        wheel_size: int = 20,
        clock: RecordedClock | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Build the timer and start its threads; see ``Timer``.

        Args:
            recorder: Records this timer alone, and is to be closed after it. With a ``clock``, a
                ``StepRecorder``.
            tick_ms: The resolution, ms.
            wheel_size: Buckets on each level.
            clock: Where the time comes from; the real clock when absent.
            executor: The executor of tasks; by default the timer's own thread. With a ``clock``, a
                ``RecordedSteppedExecutor`` or an ``InlineExecutor``.

        Raises:
            InvalidConfiguration: no wheel can be built of these sizes.
            ValueError: recorder, clock and executor do not go together.
        """
        check_sequential(recorder, clock, executor)
        self._recorder = recorder
        self._executor_of_its_own = ThreadExecutor() if executor is None else None
        runs = executor or self._executor_of_its_own or InlineExecutor()
        self._between = RecordingExecutor(recorder, runs, name_of, EventKind.RAN)
        start_ms = 0 if clock is None else clock.now_ms()
        recorder.begin(_described(tick_ms, wheel_size, start_ms, runs, recorder), self)
        super().__init__(
            tick_ms=tick_ms, wheel_size=wheel_size, clock=clock, executor=self._between
        )

    def __enter__(self) -> Self:
        return self

    def task(self, action: Callable[[], object], name: str | None = None) -> TimerTask:
        """Return a task for this timer; a name chosen for the trace must be this task's alone."""
        return NamedTask(action, next(self._recorder.names) if name is None else name)

    def add(self, task: Task | Callable[[], object], delay_ms: Delay) -> Task:
        """Arm a task, see ``Timer.add``, and record that.

        Not where the delay is no whole number of milliseconds.
        """
        # A truth value, too, is written as a number.
        delay = int(whole_ms(delay_ms))
        armed = task if isinstance(task, Task) else self.task(task)
        recorder = self._recorder
        recorder.call(Add(name_of(armed), delay))
        try:
            super().add(armed, delay)
        except PurgatoryError as error:
            recorder.returned(None, error.reason)
            raise
        recorder.returned()
        return armed

    def cancel(self, task: Task) -> bool:
        """End the arming of a task, see ``Timer.cancel``, and record that."""
        recorder = self._recorder
        recorder.call(Cancel(name_of(task)))
        cancelled = super().cancel(task)
        recorder.returned()
        return cancelled

    def advance(self) -> bool:
        """Do what is due, see ``Timer.advance``, and on a manual clock record that."""
        if not self._recorder.is_sequential:
            return super().advance()
        self._recorder.call(Advance(self._clock.now_ms()))
        popped = super().advance()
        self._recorder.returned(popped)
        return popped

    def close(self, timeout_ms: int = 5000) -> None:
        """Close the timer, see ``Timer.close``, and record that."""
        self._recorder.call(Shutdown())
        super().close(timeout_ms)
        self._recorder.returned()
        if self._executor_of_its_own is not None:
            self._executor_of_its_own.close(timeout_ms)

    def live(self) -> Snapshot:
        """Return the live tasks, for a further file of the run, while all is quiet."""
        with self._lock:
            # Tasks are handed on under this lock: each is in a bucket or there.
            return Snapshot(
                run="",
                seq=0,
                tasks=tuple(
                    PendingTask(name_of(task), task._expiry_ms, task._expiry_ms)
                    for task in self._wheel.waiting()
                ),
                queued=tuple(map(name_of, self._between.waiting.values())),
                closed=self._closed,
            )


def name_of(task: Task) -> str:
    """Return the task's name in the trace."""
    return task.name if type(task) is NamedTask else f"at {id(task):x}"


def check_sequential(
    recorder: Recorder, clock: RecordedClock | None, executor: Executor | None
) -> None:
    """See that a manual clock has a recorder of steps, and an executor without a thread.

    Raises:
        ValueError: it has not.
    """
    if recorder.is_sequential is not (clock is not None):
        raise ValueError("a StepRecorder and a RecordedClock belong together")
    if clock is not None and not isinstance(executor, SteppedExecutor | InlineExecutor):
        raise ValueError(
            "on a manual clock tasks need a RecordedSteppedExecutor or an InlineExecutor"
        )


def executor_word(executor: Executor) -> profiles.Executor:
    """Return the executor in the words of a profile."""
    if isinstance(executor, SteppedExecutor):
        return profiles.Executor.STEPPED
    if isinstance(executor, InlineExecutor):
        return profiles.Executor.INLINE
    return profiles.Executor.THREAD


def _described(
    tick_ms: int, wheel_size: int, start_ms: int, executor: Executor, recorder: Recorder
) -> TimerInstance:
    shown = {profiles.Observable.ADVANCE_RESULT} if recorder.is_sequential else set()
    return TimerInstance(
        profiles.TimerConfiguration(tick_ms, wheel_size, start_ms),
        profiles.TimerProfile(
            executor=executor_word(executor),
            structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            largest_delay_ms=LARGEST_DELAY_MS,
            observables=frozenset(shown),
        ),
    )
