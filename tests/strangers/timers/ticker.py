"""A timer that a ticker drives: each tick is done once; what is due already waits for the next."""

from collections.abc import Callable

from purgatory_spec.profiles import Component

from ..design import TIMER_FEATURES, Stranger


class TickerTimer:
    """A map from the number of a tick to its tasks; a task is put no earlier than the next tick."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.ticked = now_ms // tick_ms
        self.ticks: dict[int, list[str]] = {}

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > 2**31 - 1:
            raise OverflowError
        self.cancel(task)
        due = (self.now_ms + max(delay_ms, 0)) // self.tick_ms
        self.ticks.setdefault(self.placed(due), []).append(task)

    def placed(self, due: int) -> int:
        return max(due, self.ticked + 1)

    def cancel(self, task: str) -> None:
        for tasks in self.ticks.values():
            if task in tasks:
                tasks.remove(task)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        until = self.now_ms // self.tick_ms
        while (tick := min(self.ticks, default=until + 1)) <= until:
            self.ticked = tick
            for task in self.ticks.pop(tick):
                self.run(task)
        self.ticked = until

    def size(self) -> int:
        return sum(map(len, self.ticks.values()))


class LosesTheDue(TickerTimer):
    """Puts a task that is due already where the ticker was, and never finds it."""

    def placed(self, due: int) -> int:
        return due

    def advance(self) -> None:
        self.ticks = {tick: tasks for tick, tasks in self.ticks.items() if tick > self.ticked}
        super().advance()


class SkipsTicks(TickerTimer):
    """A ticker that was held up does its last tick alone."""

    def advance(self) -> None:
        until = self.now_ms // self.tick_ms
        if until > self.ticked:
            for task in self.ticks.pop(until, []):
                self.run(task)
        self.ticked = until


STRANGER = Stranger(
    Component.TIMER,
    {
        "negative_delay": "as_zero",
        "already_due": "next_tick",
        "features": TIMER_FEATURES,
        "observables": ["size"],
    },
    TickerTimer,
    {LosesTheDue: {"TIMER-ZERO-DELAY"}, SkipsTicks: {"TIMER-NOT-LATE"}},
)
