"""Small concurrent programs under the scheduler, to see what the scheduler itself does."""

from collections.abc import Callable
from typing import cast

from purgatory_lab.scheduling.controlled import ControlledLock
from purgatory_lab.scheduling.controlled_threading import ControlledThreading
from purgatory_lab.scheduling.run import Record, Strategy
from purgatory_lab.scheduling.scheduler import Scheduler

Body = Callable[[], object]


class Names:
    """Names locks by the attribute that has them."""

    def name_of(self, maker: object, made: object) -> str:
        return next(name for name, value in vars(maker).items() if value is made)


class Toy:
    """Something with two locks, a condition and a number, all under control."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.threading = ControlledThreading(scheduler, Names())
        self.left = self.threading.Lock()
        self.right = self.threading.Lock()
        self.again = self.threading.RLock()
        self.changed = self.threading.Condition(self.left)
        self.elsewhere = self.threading.Condition(self.again)
        self.number = 0
        self.log: list[str] = []

    def add_in_two_steps(self) -> None:
        number = self.number
        self.scheduler.reach("between")
        self.number = number + 1

    def add_under_lock(self) -> None:
        with self.left:
            self.add_in_two_steps()

    def take(self, first: ControlledLock, second: ControlledLock) -> None:
        with first, second:
            self.number += 1


class ToyRuns:
    """Makes runs of a toy; what it leaves is in ``toy``."""

    def __init__(self, *bodies: Callable[[Toy], object], longest_wait_s: float = 60) -> None:
        self.scheduler = Scheduler(longest_wait_s)
        self.toy: Toy
        self.left: list[object] = []
        self._bodies = bodies

    def __call__(self, strategy: Strategy) -> Record:
        self.scheduler.begin()
        self.toy = toy = Toy(self.scheduler)
        for number, body in enumerate(self._bodies):
            self.scheduler.start(f"t{number}", cast("Body", lambda body=body: body(toy)))
        record = self.scheduler.execute(strategy)
        self.left.append((toy.number, *toy.log))
        return record
