"""The plainest timer: a map of deadlines, rounded up, that every advance looks through."""

from collections.abc import Callable

from purgatory_spec.profiles import Component

from ..design import TIMER_FEATURES, Stranger


class DeadlineTimer:
    """Delays are unsigned."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.deadlines: dict[str, int] = {}

    def add(self, task: str, delay_ms: int) -> None:
        assert 0 <= delay_ms < 2**32, "an unsigned delay of 32 bits"
        self.deadlines[task] = self.deadline(delay_ms)

    def deadline(self, delay_ms: int) -> int:
        return -(-(self.now_ms + delay_ms) // self.tick_ms) * self.tick_ms

    def cancel(self, task: str) -> None:
        self.deadlines.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        due = [task for task in self.deadlines if self.deadlines[task] <= self.now_ms]
        due.sort(key=lambda task: self.deadlines[task])
        for task in due:
            self.take(task)

    def take(self, task: str) -> None:
        if self.deadlines.get(task, self.now_ms + 1) <= self.now_ms:
            del self.deadlines[task]
            self.run(task)

    def size(self) -> int:
        return len(self.deadlines)


class RunsBeforeItForgets(DeadlineTimer):
    """A task that adds itself while it runs is forgotten."""

    def take(self, task: str) -> None:
        if self.deadlines.get(task, self.now_ms + 1) <= self.now_ms:
            self.run(task)
            self.deadlines.pop(task, None)


class OneMillisecondShort(DeadlineTimer):
    """The deadline is rounded up from one millisecond too early."""

    def deadline(self, delay_ms: int) -> int:
        return -(-(self.now_ms + delay_ms - 1) // self.tick_ms) * self.tick_ms


STRANGER = Stranger(
    Component.TIMER,
    {
        "rounding": "up",
        "negative_delay": "not_offered",
        "largest_delay_ms": 2**32 - 1,
        "larger_delay": "not_offered",
        "features": TIMER_FEATURES,
        "observables": ["size"],
    },
    DeadlineTimer,
    {
        RunsBeforeItForgets: {"TIMER-ADD-INSIDE"},
        OneMillisecondShort: {"TIMER-NOT-EARLY", "TIMER-ROUNDING"},
    },
)
