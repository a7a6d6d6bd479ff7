"""The world of a purgatory's scenarios: the bundled purgatory, and the checks of its runs."""

from purgatory_lab.scheduling.bundled.purgatory.checks import (
    problems,
    problems_at_an_instant,
)
from purgatory_lab.scheduling.bundled.purgatory.under_test import PurgatoryUnderTest
from purgatory_lab.scheduling.errors import CheckFailed


class PurgatoryWorld(PurgatoryUnderTest):
    """A purgatory whose runs are checked."""

    def observe(self) -> None:
        """Read the counts in the running thread."""
        self.scheduler.mark("looks at the counts")
        counts = self.counts()
        if counts["entries"] < 0 or counts["pending"] < 0 or counts["estimate"] < 0:
            raise CheckFailed(f"a count is below zero: {counts}")

    def inspect(self) -> list[str]:
        """Return the problems of the purgatory at any instant."""
        return problems_at_an_instant(self)

    def problems(self) -> list[str]:
        """Return the problems of the purgatory after the return of every call."""
        return problems(self)
