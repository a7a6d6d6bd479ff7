"""Between which readings of a real clock an expiry may be seen."""

from typing import NamedTuple

from purgatory_model.choices.timers import rounded
from purgatory_spec.profiles import Rounding


class ExpiryInterval(NamedTuple):
    """The expiry of an add, as it follows from readings of the clock, ms.

    Rules: TIMER-NOT-EARLY, TIMER-LATENESS, TIMER-ROUNDING.
    """

    tick_ms: int
    rounding: Rounding
    lateness_ms: int = 0

    def early(self, called_ms: int, delay_ms: int = 0) -> int:
        """Return the earliest reading at which the task may run."""
        return rounded(called_ms + delay_ms, self.tick_ms, self.rounding)

    def late(self, returned_ms: int, delay_ms: int = 0) -> int:
        """Return the latest reading at which the task may run."""
        late = returned_ms + delay_ms
        if self.rounding is Rounding.UP:
            late = rounded(late, self.tick_ms, self.rounding)
        return max(late, returned_ms) + self.lateness_ms
