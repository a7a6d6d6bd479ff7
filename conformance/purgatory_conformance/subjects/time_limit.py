"""The time limit of a subject's steps, which is shortened where a case is only tried."""

from typing import Protocol, runtime_checkable

from purgatory_conformance.subjects.subject import Subject

_SHORT = 20


@runtime_checkable
class _Limited(Protocol):
    """A subject whose steps have a time limit."""

    time_limit_seconds: float


class TimeLimit:
    """The time limit of a subject's steps; a subject may have none, and then nothing changes."""

    def __init__(self, subject: Subject) -> None:
        """Remember the whole limit of a subject."""
        self._subject = subject if isinstance(subject, _Limited) else None
        self.whole_s = 0.0 if self._subject is None else self._subject.time_limit_seconds

    def shorten(self) -> None:
        """Give steps the twentieth part of the limit from now on."""
        self._set(self.whole_s / _SHORT)

    def restore(self) -> None:
        """Give steps the whole limit again."""
        self._set(self.whole_s)

    def _set(self, seconds: float) -> None:
        if self._subject is not None:
            self._subject.time_limit_seconds = seconds
