"""What the purgatories here have for a timer: a map of deadlines."""

from ..adapters import Delayed


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

    def due(self) -> list[Delayed]:
        """Take what is due, the earliest first."""
        due = [o for o, deadline in self.deadlines.items() if deadline <= self.now_ms]
        due.sort(key=self.deadlines.__getitem__)
        for operation in due:
            self.disarm(operation)
        return due
