"""A calendar queue: days of one width, and tasks lie in a day without order, as in a hash map."""

from collections.abc import Callable
from random import Random

from purgatory_spec.profiles import Component

from ..design import TIMER_FEATURES, Stranger

CHANCE = Random()
"""Is asked by every instance in turn: a case that is repeated meets another order."""


class CalendarQueueTimer:
    """The order inside a tick differs from run to run."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, now_ms: int, days: int = 7, width: int = 3) -> None:
        self.tick_ms, self.now_ms, self.width = tick_ms, now_ms, width * tick_ms
        self.days: list[dict[str, int]] = [{} for _ in range(days)]

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > 2**31 - 1:
            delay_ms = 2**31 - 1
        self.cancel(task)
        due = self.due(self.now_ms + delay_ms)
        self.days[due // self.width % len(self.days)][task] = due

    def due(self, expiry_ms: int) -> int:
        return expiry_ms - expiry_ms % self.tick_ms

    def cancel(self, task: str) -> None:
        for day in self.days:
            day.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        due = [item for day in self.days for item in day.items() if item[1] <= self.now_ms]
        CHANCE.shuffle(due)
        due.sort(key=self.turn)
        for task, _ in due:
            self.cancel(task)
        for task, _ in due:
            self.run(task)

    def turn(self, item: tuple[str, int]) -> int:
        return item[1]

    def size(self) -> int:
        return sum(map(len, self.days))


class OrderOfDays(CalendarQueueTimer):
    """Tasks run day by day, whatever their ticks within the day."""

    def turn(self, item: tuple[str, int]) -> int:
        return item[1] // self.width


class WrongHalf(CalendarQueueTimer):
    """Rounds to the nearest tick: neither down nor up."""

    def due(self, expiry_ms: int) -> int:
        return super().due(expiry_ms + self.tick_ms // 2)


STRANGER = Stranger(
    Component.TIMER,
    {"larger_delay": "saturate", "features": TIMER_FEATURES, "observables": ["size"]},
    CalendarQueueTimer,
    {OrderOfDays: {"TIMER-TICK-ORDER", "TIMER-NEGATIVE-DELAY"}, WrongHalf: {"TIMER-ROUNDING"}},
)
