"""The world of a timer's scenarios: the bundled timer, and the checks of what a run has left."""

from purgatory_lab.scheduling.bundled.timer.checks import problems
from purgatory_lab.scheduling.bundled.timer.under_test import TimerUnderTest


class TimerWorld(TimerUnderTest):
    """A timer whose runs are checked."""

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
        return problems(self)
