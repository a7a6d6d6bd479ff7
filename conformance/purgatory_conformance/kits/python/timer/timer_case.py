# SPDX-License-Identifier: CC0-1.0
"""The timer behind the protocol: each step becomes a call. Change names until it calls yours."""

import sys
from collections import deque
from contextlib import suppress

from case import Case, Json, Unsupported
from heap_timer import Closed, HeapTimer
from script import Script, ScriptError, SevereScriptError

STEPPED = "--stepped" in sys.argv  # expired tasks wait until the runner has them run


class Refused(Exception):
    """The executor takes nothing, as one whose queue is full."""


class Task(str):
    """The task of a name: an object, so that somebody holds it or does not."""

    script: Script


class TimerCase(Case):
    """A timer whose clock the runner moves, its tasks, and their executor."""

    PROFILE = {
        "executor": "stepped" if STEPPED else "inline",
        "severe_throw": "as_ordinary",
        "features": [
            *("cancel", "readd", "change_delay", "elapse", "shutdown", "script_throw"),
            *("script_throw_severe", "script_add", "script_cancel", "script_advance", "reachable"),
            *(["refuse"] if STEPPED else []),
        ],
        "observables": ["size", "queued", "advance_result"],
    }
    REASONS = {OverflowError: "too_large", Closed: "closed", Refused: "refused"}

    def __init__(self, configuration: Json) -> None:
        super().__init__(configuration)
        tick_ms, start_ms = configuration.get("tick_ms", 1), configuration.get("start_ms", 0)
        # A timing wheel takes the configuration's wheel_size, too.
        self.timer: HeapTimer[Task] = HeapTimer(tick_ms, start_ms)
        self.tasks: dict[str, Task] = {}
        self.queue: deque[Task] = deque()  # the executor's: expired, not yet run
        self.refuses = False  # whether the executor does

    def task(self, name: str) -> Task:
        if name not in self.tasks:
            self.tasks[name] = Task(name)
            self.tasks[name].script = Script(self, name)
        return self.tasks[name]

    def call(self, kind: str, asked: Json) -> object:
        """Call what a step or an action of a task asks for."""
        match kind:
            case "add":
                self.add(self.task(asked["task"]), asked)
            case "cancel":
                self.timer.cancel(self.task(asked["task"]))
            case "reachable":
                return self.is_reachable(self.tasks, asked["task"])
            case "elapse":
                self.timer.now_ms = asked["to_ms"]
            case "advance":  # that of a script has no reading: the clock keeps its own
                self.timer.now_ms = asked.get("to_ms", self.timer.now_ms)
                self.refuses = asked.get("refuse", False)
                expired_any = self.timer.advance(self.hand_over)
                while self.queue and not STEPPED:
                    self.run_one()
                return expired_any
            case "run_one":
                self.run_one()
            case "shutdown":
                self.timer.shut_down()
            case _:
                raise Unsupported
        return None

    def add(self, task: Task, asked: Json) -> None:
        former = task.script.actions
        if "op" in asked:  # the script of a step replaces it, and none is an empty one
            task.script.actions = asked.get("script", [])
        try:
            self.timer.add(task, asked["delay_ms"])
        except Exception:
            task.script.actions = former  # nothing has changed
            raise

    def hand_over(self, task: Task) -> None:
        if self.refuses:
            raise Refused
        self.queue.append(task)
        if STEPPED:
            self.note("expired", task)

    def run_one(self) -> None:
        if self.queue:
            with suppress(ScriptError, SevereScriptError):  # what a task throws reaches nobody
                self.queue.popleft().script.ran()

    def observed(self) -> Json:
        return {"size": len(self.timer.pending), "queued": len(self.queue)}
