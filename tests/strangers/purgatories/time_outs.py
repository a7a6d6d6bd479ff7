"""Share a map of deadlines for a timer, and completing once, among purgatories."""

from collections.abc import Callable
from contextlib import suppress

from ..adapters import Delayed, ScriptFailure


class TimeOuts:
    """The deadline of each operation that waits; negative delays are over at once."""

    def __init__(self, tick_ms: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.deadlines: dict[Delayed, int] = {}

    def arm(self, operation: Delayed) -> None:
        """Arm a time-out, or move it."""
        expiry_ms = self.now_ms + max(operation.delay_ms, 0)
        self.disarm(operation)
        self.deadlines[operation] = expiry_ms // self.tick_ms * self.tick_ms

    def disarm(self, operation: Delayed) -> None:
        """Forget a time-out."""
        self.deadlines.pop(operation, None)

    def run_together(self, expire: Callable[[Delayed], None]) -> None:
        """Take out all that is due, then expire it, the earliest first."""
        due = self.due()
        for operation in due:
            self.disarm(operation)
        for operation in due:
            with suppress(ScriptFailure):
                expire(operation)

    def run_one_by_one(self, expire: Callable[[Delayed], None]) -> None:
        """Take out and expire the earliest as long as one is due: others may be moved meanwhile."""
        while due := self.due():
            self.disarm(due[0])
            with suppress(ScriptFailure):
                expire(due[0])

    def due(self) -> list[Delayed]:
        """Return the due operations, the earliest first."""
        due = [o for o, deadline in self.deadlines.items() if deadline <= self.now_ms]
        return sorted(due, key=self.deadlines.__getitem__)


class CompletesOnce:
    """Complete an operation once, and take its time-out: most purgatories here do so alike."""

    def __init__(self, purge_interval: int, tick_ms: int, now_ms: int) -> None:
        self.purge_interval = purge_interval
        self.done: set[Delayed] = set()
        self.time_outs = TimeOuts(tick_ms, now_ms)

    def attempt(self, operation: Delayed) -> bool:
        """Complete an operation that can be completed."""
        return operation.can_complete() and self.force(operation)

    def force(self, operation: Delayed) -> bool:
        """Complete an operation, once."""
        if operation in self.done:
            return False
        self.done.add(operation)
        self.time_outs.disarm(operation)
        operation.on_complete()
        return True

    def expire(self, operation: Delayed) -> None:
        """Complete an operation whose time is over."""
        if self.force(operation):
            operation.on_expiration()

    def elapse(self, now_ms: int) -> None:
        """Set the clock."""
        self.time_outs.now_ms = now_ms
