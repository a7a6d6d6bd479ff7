# SPDX-License-Identifier: CC0-1.0
"""An event loop without waiting: where there is nothing to do its clock jumps to the next timer."""

import asyncio
import math
import selectors


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop whose clock reads what it was set to, in seconds."""

    def __init__(self, now: float) -> None:
        self.now = now
        super().__init__(JumpingSelector(self))

    def time(self) -> float:
        return self.now

    def run_until(self, then: float) -> None:
        """Let time pass, and everything happen that is due until then."""
        self.run_until_complete(asyncio.sleep(then + 1e-6 - self.now))  # two sums differ by less
        self.now = then


class JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None:
            # The clock always moves a little. A loop runs what lies before its clock plus a
            # nanosecond, and a clock that reads months in a float cannot show a nanosecond.
            now = self.loop.now
            self.loop.now = max(now + timeout, math.nextafter(now, math.inf))
        return super().select(0)
