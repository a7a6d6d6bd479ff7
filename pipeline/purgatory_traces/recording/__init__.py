"""Recorders: objects of ours that write down what is asked of them, for ``purgatory trace check``.

``RecordedTimer``, ``RecordedPurgatory`` and ``RecordedMemoryPool`` take the place of the object
that they record and behave as it does. Each has a ``Recorder`` of its own, since a run is one
instance.
"""

from purgatory_traces.recording.recorded.memory_pool import RecordedMemoryPool
from purgatory_traces.recording.recorded.operation import recorded
from purgatory_traces.recording.recorded.purgatory import RecordedPurgatory
from purgatory_traces.recording.recorded.timer import RecordedTimer
from purgatory_traces.recording.recorder import Recorder, Rotation
from purgatory_traces.recording.step_recorder import (
    RecordedClock,
    RecordedSteppedExecutor,
    StepRecorder,
)
from purgatory_traces.recording.trace_writer import TraceNotWritten

__all__ = [
    "RecordedClock",
    "RecordedMemoryPool",
    "RecordedPurgatory",
    "RecordedSteppedExecutor",
    "RecordedTimer",
    "Recorder",
    "Rotation",
    "StepRecorder",
    "TraceNotWritten",
    "recorded",
]
