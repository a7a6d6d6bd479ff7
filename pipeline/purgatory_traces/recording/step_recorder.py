"""The recorder of an instance on a manual clock: one call after the other, each in one line.

A call that is made inside another one has no place in such a line (in the vocabulary of steps it
is part of a script that was given before). Then both are written as calls with their returns: the
trace stays true, and says of itself that no step tells of them.
"""

import threading
from pathlib import Path

from purgatory_impl import SteppedExecutor, VirtualClock
from purgatory_spec.operations import Elapse, Operation, RunOne
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.reasons import Reason
from purgatory_traces.recording.recorder import Recorder
from purgatory_traces.recording.trace_writer import MOST_BUFFERED
from purgatory_traces.traces.lines import DeclaredDeviation, ManualClock, Step


class StepRecorder(Recorder):
    """Records one instance whose clock is set, and which one thread at a time uses."""

    is_sequential = True

    def __init__(
        self,
        path: Path,
        run: str,
        *,
        subject: str = "",
        deviations: tuple[DeclaredDeviation, ...] = (),
        most_buffered: int = MOST_BUFFERED,
    ) -> None:
        """Create the run's file; see ``Recorder``."""
        super().__init__(
            path, run, subject=subject, deviations=deviations, most_buffered=most_buffered
        )
        self._clock = ManualClock()
        self._events: list[Event] = []
        self._operation: Operation | None = None
        self._inside = 0
        """The number of open calls that are written with a line for each end."""

    def call(self, operation: Operation) -> None:
        """Begin a call of the program."""
        if self._operation is not None:
            self._take_apart()
        if self._inside:
            self._inside += 1
            super().call(operation)
            return
        self.enter()
        self._operation = operation

    def returned(self, result: Value = None, rejected: Reason | None = None) -> None:
        """Return from the latest call."""
        if self._inside:
            self._inside -= 1
            super().returned(result, rejected)
            return
        assert self._operation is not None, "a return without a call"
        step = Step(
            run=self.run,
            seq=self._next(),
            thread=threading.current_thread().name,
            operation=self._operation,
            result=result,
            rejected=rejected,
            events=tuple(self._events),
        )
        self._operation = None
        self._events.clear()
        self._put(step)
        self.leave()

    def event(self, kind: EventKind, name: str) -> None:
        """Note that a callback begins."""
        if self._operation is None:
            super().event(kind, name)
        else:
            self._events.append(Event(kind, name))

    def _take_apart(self) -> None:
        """Write the open call as a call, and what has happened in it as events."""
        operation, self._operation = self._operation, None
        assert operation is not None
        self._inside = 1
        self.leave()
        super().call(operation)
        for event in self._events:
            super().event(event.kind, event.task)
        self._events.clear()


class RecordedClock(VirtualClock):
    """A clock that is set, and whose settings are recorded.

    Whoever sets it advances the timer, or the purgatory, afterwards.
    """

    __slots__ = ("_recorder",)

    def __init__(self, recorder: StepRecorder, start_ms: int = 0) -> None:
        super().__init__(start_ms)
        self._recorder = recorder

    def set_ms(self, now_ms: int) -> None:
        """Let the clock read ``now_ms`` from now on, and record that."""
        self._recorder.call(Elapse(now_ms))
        super().set_ms(now_ms)
        self._recorder.returned()


class RecordedSteppedExecutor(SteppedExecutor):
    """An executor whose steps are recorded."""

    __slots__ = ("_recorder",)

    def __init__(self, recorder: StepRecorder) -> None:
        super().__init__()
        self._recorder = recorder

    def run_one(self) -> bool:
        """Run the task that has waited longest, and record that."""
        self._recorder.call(RunOne())
        ran = super().run_one()
        self._recorder.returned()
        return ran
