"""A hashed wheel of one level: a task waits for its slot, and there for its rounds to end."""

from collections.abc import Callable

from purgatory_spec.profiles import Component

from ..adapters import TimerInstance
from ..design import TIMER_FEATURES, Stranger


class HashedWheelTimer:
    """Rounds expiries up. The slot of the present tick is looked at again with each advance."""

    run: Callable[[str], None]

    def __init__(self, tick_ms: int, slots: int, now_ms: int) -> None:
        self.tick_ms, self.now_ms = tick_ms, now_ms
        self.slots: list[dict[str, int]] = [{} for _ in range(slots)]
        self.tick = now_ms // tick_ms

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms < 0:
            raise ValueError("a delay is not negative")
        if delay_ms > 2**31 - 1:
            raise OverflowError
        self.cancel(task)
        due = max(-(-(self.now_ms + delay_ms) // self.tick_ms), self.tick)
        self.slots[due % len(self.slots)][task] = self.rounds(due)

    def rounds(self, due: int) -> int:
        return (due - self.tick) // len(self.slots)

    def cancel(self, task: str) -> None:
        for slot in self.slots:
            slot.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        until = self.now_ms // self.tick_ms
        while True:
            slot = self.slots[self.tick % len(self.slots)]
            for task in [task for task, rounds in slot.items() if rounds == 0]:
                if slot.get(task) == 0:  # a task that ran before may have moved it
                    del slot[task]
                    self.run(task)
            if self.tick == until:
                return
            if not any(self.slots):
                self.tick = until
                return
            self.turn(slot)
            self.tick += 1

    def turn(self, slot: dict[str, int]) -> None:
        for task in slot:
            slot[task] -= 1

    def size(self) -> int:
        return sum(map(len, self.slots))


class OneRoundTooMany(HashedWheelTimer):
    """A whole turn of the wheel is counted as two."""

    def rounds(self, due: int) -> int:
        return -(-(due - self.tick) // len(self.slots))


class ForgetsRounds(HashedWheelTimer):
    """A task further away than one turn expires in the first."""

    def rounds(self, due: int) -> int:
        return 0


STRANGER = Stranger(
    Component.TIMER,
    {
        "rounding": "up",
        "negative_delay": "reject",
        "features": TIMER_FEATURES,
        "observables": ["size"],
    },
    HashedWheelTimer,
    {OneRoundTooMany: {"TIMER-NOT-LATE"}, ForgetsRounds: {"TIMER-NOT-EARLY"}},
    lambda design, asked: TimerInstance(design(asked.tick_ms, asked.wheel_size, asked.start_ms)),
)
