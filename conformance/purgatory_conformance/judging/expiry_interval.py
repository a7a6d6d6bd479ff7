"""Between which readings of a real clock an expiry may be seen."""

from typing import NamedTuple

from purgatory_model.arithmetic import ceiling_to, floor_to
from purgatory_spec.profiles import Rounding


class ExpiryInterval(NamedTuple):
    """How the expiry of an add follows from readings of the clock, ms.

    Rules: TIMER-NOT-EARLY, TIMER-LATENESS, TIMER-ROUNDING.
    """

    tick_ms: int
    rounding: Rounding
    lateness_ms: int = 0

    def early(self, called_ms: int, delay_ms: int = 0) -> int:
        """The earliest reading at which the task may run."""
        if self.rounding is Rounding.UP:
            return ceiling_to(called_ms + delay_ms, self.tick_ms)
        return floor_to(called_ms + delay_ms, self.tick_ms)

    def late(self, returned_ms: int, delay_ms: int = 0) -> int:
        """The latest reading at which the task may run."""
        late = returned_ms + delay_ms
        if self.rounding is Rounding.UP:
            late = ceiling_to(late, self.tick_ms)
        return max(late, returned_ms) + self.lateness_ms
