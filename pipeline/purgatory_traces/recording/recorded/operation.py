"""Delayed operations whose callbacks are recorded: any class of them, made over by ``recorded``.

    @recorded
    class Fetch(DelayedOperation): ...

The resulting class behaves as the original class. Its tries, completions and time-outs are written
down, and so is whoever completes it by force, as soon as a ``RecordedPurgatory`` has been given the
operation; before that nothing is.

A try is written when it begins; what it answers shows in whether the completion follows. That an
operation is completed from inside its own try is part of the try, and no call of its own.
"""

from threading import get_ident
from typing import TypeVar

from purgatory_impl import DelayedOperation, PurgatoryError
from purgatory_impl.operation_locks import own_lock
from purgatory_spec.operations import Force
from purgatory_spec.outcomes import EventKind
from purgatory_spec.reasons import Reason
from purgatory_traces.recording.recorder import Recorder

_Operation = TypeVar("_Operation", bound=DelayedOperation)


class RecordedOperation(DelayedOperation):
    """The base that ``recorded`` puts in front of a class; not to be used by itself."""

    recorded_name = ""
    recorded_keys: tuple[str, ...] = ()
    """The names of the keys that it was to be watched under, in order."""
    satisfied = False
    """True once its purgatory has been told that every try completes it from now on."""
    _recorder: Recorder | None = None
    _tried_by: int | None = None

    def belong_to(self, recorder: Recorder, name: str | None) -> None:
        """Have everything written down from now on; the first recorder stays.

        An operation that somebody has completed before is said to be forced here.
        """
        if self._is_recorded():
            # Its own lock is not waited for, which a try in another thread may hold.
            return
        with own_lock(self):
            if self._recorder is not None:
                return
            self.recorded_name = next(recorder.names) if name is None else name
            self._recorder = recorder
            completed_before = self._completed
        if completed_before:
            recorder.call(Force(self.recorded_name))
            recorder.event(EventKind.COMPLETED, self.recorded_name)
            recorder.returned(True)

    def _is_recorded(self) -> bool:
        return self._recorder is not None

    def try_complete(self) -> bool:
        """Write the try down, and try."""
        if self._recorder is not None:
            self._recorder.event(EventKind.TRIED, self.recorded_name)
        outer, self._tried_by = self._tried_by, get_ident()
        try:
            return bool(super().try_complete())
        finally:
            self._tried_by = outer

    def on_complete(self) -> None:
        """Write the completion down, and do what is to be done."""
        if self._recorder is not None:
            self._recorder.event(EventKind.COMPLETED, self.recorded_name)
        super().on_complete()

    def on_expiration(self) -> None:
        """Write the time-out down, and do what is to be done."""
        if self._recorder is not None:
            self._recorder.event(EventKind.TIMED_OUT, self.recorded_name)
        super().on_expiration()

    def force_complete(self) -> bool:
        """Complete the operation by force, and record the call unless it is part of a try."""
        if self._tried_by == get_ident():
            return super().force_complete()
        if self._recorder is None:
            with own_lock(self):
                if self._recorder is None:
                    return super().force_complete()
        recorder = self._recorder
        recorder.call(Force(self.recorded_name))
        try:
            won = super().force_complete()
        except Exception as error:
            recorder.returned(None, reason_of(error))
            raise
        recorder.returned(won)
        return won

    def cancel(self) -> bool:
        """Refuse to cancel: no word of a trace tells that a time-out alone was taken.

        Raises:
            NotImplementedError: always, so that no trace tells of an operation that is overdue.
        """
        raise NotImplementedError("a recorded operation's time-out cannot be taken by itself")


def recorded(kind: type[_Operation]) -> type[_Operation]:
    """Return a subclass whose callbacks are recorded; the class itself if it records already."""
    if issubclass(kind, RecordedOperation):
        return kind
    namespace = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    made: type[_Operation] = type(kind.__name__, (RecordedOperation, kind), namespace)
    return made


def reason_of(error: Exception) -> Reason:
    """Return the reason for which a call was refused, or that the user's own code threw."""
    return error.reason if isinstance(error, PurgatoryError) else Reason.THROWN
