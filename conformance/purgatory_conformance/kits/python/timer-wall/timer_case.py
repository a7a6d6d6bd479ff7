# SPDX-License-Identifier: CC0-1.0
"""The timer behind the protocol: each step becomes a call. Change names until it calls yours.

On the real clock time passes in ``wait``. With ``--virtual`` the same timer lives in a loop whose
clock the runner moves: exact, and without waiting.
"""

import asyncio
import sys

from asyncio_timer import AsyncioTimer
from case import Case, Json, Unsupported
from virtual_time import VirtualTimeLoop

VIRTUAL = "--virtual" in sys.argv


class TimerCase(Case):
    """A timer that runs its tasks by itself."""

    PROFILE = {
        "rounding": "exact",
        "clock": "manual" if VIRTUAL else "wall",
        "features": ["cancel", "readd", "change_delay"],
        "observables": ["size"],
    }
    REASONS = {OverflowError: "too_large"}

    def __init__(self, configuration: Json) -> None:
        super().__init__(configuration)
        start = configuration.get("start_ms", 0) / 1000
        self.loop = VirtualTimeLoop(start) if VIRTUAL else asyncio.SelectorEventLoop()
        self.timer = AsyncioTimer(self.loop, self.ran)

    def end(self) -> None:
        self.loop.close()  # with its sockets, and the tasks that wait

    def ran(self, task: str) -> None:
        when = self.now_ms()
        self.note("ran", task, **({} if when is None else {"at_ms": when}))

    def now_ms(self) -> int | None:
        return None if VIRTUAL else int(self.loop.time() * 1000)

    def call(self, kind: str, asked: Json) -> object:
        match kind:
            case "add":
                self.timer.add(asked["task"], asked["delay_ms"])
            case "cancel":
                self.timer.cancel(asked["task"])
            case "wait":
                self.loop.run_until_complete(asyncio.sleep(asked["for_ms"] / 1000))
            case "advance" if isinstance(self.loop, VirtualTimeLoop):
                self.loop.run_until(asked["to_ms"] / 1000)
            case _:
                raise Unsupported
        return None

    def observed(self) -> Json:
        return {"size": len(self.timer.pending)}
