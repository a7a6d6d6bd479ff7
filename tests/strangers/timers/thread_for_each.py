"""A timer without a tick, whose tasks each run in a thread of their own, in any order."""

from collections.abc import Callable
from threading import Thread

from purgatory_spec.profiles import Component

from ..adapters import TimerInstance
from ..design import Stranger


class ThreadForEachTimer:
    """Several tasks that are due run at once. Here the one that was added last is first."""

    run: Callable[[str], None]

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.moments: dict[str, int] = {}

    def add(self, task: str, delay_ms: int) -> None:
        assert 0 <= delay_ms < 2**63, "an unsigned delay"
        self.moments.pop(task, None)
        self.moments[task] = self.now_ms + delay_ms

    def cancel(self, task: str) -> None:
        self.moments.pop(task, None)

    def elapse(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def advance(self) -> None:
        for task in reversed(self.due()):
            del self.moments[task]
            self.start(task)

    def due(self) -> list[str]:
        return [task for task, moment in self.moments.items() if moment <= self.now_ms]

    def start(self, task: str) -> None:
        thread = Thread(target=self.run, args=(task,))
        thread.start()
        thread.join()

    def size(self) -> int:
        return len(self.moments)


class OneOfThoseThatAreDue(ThreadForEachTimer):
    """An advance starts one thread at most."""

    def due(self) -> list[str]:
        return super().due()[:1]


class StartsTwice(ThreadForEachTimer):
    """Of several tasks that are due at once, one is run twice."""

    def start(self, task: str) -> None:
        super().start(task)
        if self.due():
            super().start(task)


class RoundsToTen(ThreadForEachTimer):
    """There is a tick after all."""

    def due(self) -> list[str]:
        return [task for task, moment in self.moments.items() if moment // 10 <= self.now_ms // 10]


STRANGER = Stranger(
    Component.TIMER,
    {
        "rounding": "exact",
        "executor": "threads",
        "negative_delay": "not_offered",
        "larger_delay": "not_offered",
        "features": ["cancel", "readd", "change_delay", "elapse"],
        "observables": ["size"],
    },
    ThreadForEachTimer,
    {
        OneOfThoseThatAreDue: {"TIMER-NOT-LATE"},
        StartsTwice: {"TIMER-EXACTLY-ONCE"},
        RoundsToTen: {"TIMER-ROUNDING", "TIMER-NOT-EARLY"},
    },
    lambda design, asked: TimerInstance(design(asked.start_ms)),
)
