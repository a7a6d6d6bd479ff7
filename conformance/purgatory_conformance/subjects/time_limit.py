"""The time limit of a subject's steps, which is shortened where a case is only tried."""

from typing import Protocol, runtime_checkable

from purgatory_conformance.subjects.subject import Subject

SHORT = 20
"""The divisor of the limit where a case is only tried."""


@runtime_checkable
class _Limited(Protocol):
    """A subject whose steps have a time limit."""

    time_limit_seconds: float


class TimeLimit:
    """The time limit of a subject's steps; a subject may have none, and then nothing changes."""

    def __init__(self, subject: Subject) -> None:
        """Remember the whole limit of a subject."""
        self._subject = subject if isinstance(subject, _Limited) else None
        self.whole_s = self.present_s

    @property
    def short_s(self) -> float:
        """Return the limit of a step of a case that is only tried, s."""
        return self.whole_s / SHORT

    @property
    def present_s(self) -> float:
        """Return the present limit of a step, s; 0 without one."""
        return 0.0 if self._subject is None else self._subject.time_limit_seconds

    @present_s.setter
    def present_s(self, seconds: float) -> None:
        if self._subject is not None:
            self._subject.time_limit_seconds = seconds

    def shorten(self, times: int = SHORT) -> None:
        """Give steps so many times less from now on, but no less than the short limit."""
        self.present_s = self.whole_s / min(times, SHORT)

    def restore(self) -> None:
        """Give steps the whole limit again."""
        self.present_s = self.whole_s
