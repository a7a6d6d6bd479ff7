# SPDX-License-Identifier: CC0-1.0
"""The timer behind the protocol: each step becomes a call. Change names until it calls yours."""

from case import Case, Json, Unsupported
from heap_timer import HeapTimer


class Task(str):
    """The task of a name: an object, so that somebody holds it or does not."""


class TimerCase(Case):
    """A timer whose clock the runner moves."""

    PROFILE = {
        "features": ["cancel", "readd", "change_delay", "elapse", "reachable"],
        "observables": ["size", "advance_result"],
    }
    REASONS = {OverflowError: "too_large"}

    def __init__(self, configuration: Json) -> None:
        super().__init__(configuration)
        self.tasks: dict[str, Task] = {}
        self.timer = HeapTimer(configuration.get("tick_ms", 1), configuration.get("start_ms", 0))

    def task(self, name: str) -> Task:
        return self.tasks.setdefault(name, Task(name))

    def call(self, kind: str, asked: Json) -> object:
        match kind:
            case "add":
                self.timer.add(self.task(asked["task"]), asked["delay_ms"])
            case "cancel":
                self.timer.cancel(self.task(asked["task"]))
            case "reachable":
                return self.is_reachable(self.tasks, asked["task"])
            case "elapse":
                self.timer.now_ms = asked["to_ms"]
            case "advance":
                self.timer.now_ms = asked["to_ms"]
                return self.timer.advance(lambda task: self.note("ran", task))
            case _:
                raise Unsupported
        return None

    def observed(self) -> Json:
        return {"size": len(self.timer.pending)}
