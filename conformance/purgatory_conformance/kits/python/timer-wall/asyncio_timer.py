# SPDX-License-Identifier: CC0-1.0
"""A naive timer on an event loop: put yours in its place. It knows nothing of the protocol."""

import asyncio
from collections.abc import Callable

LARGEST_DELAY_MS = 2**31 - 1  # a profile promises this limit if it names no other


class AsyncioTimer:
    """Tasks that the loop runs when their time has come."""

    def __init__(self, loop: asyncio.AbstractEventLoop, run: Callable[[str], None]) -> None:
        self.loop = loop
        self.run = run
        self.pending: dict[str, asyncio.TimerHandle] = {}

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > LARGEST_DELAY_MS:
            raise OverflowError(f"a delay is at most {LARGEST_DELAY_MS} ms")
        self.cancel(task)  # an earlier arming
        self.pending[task] = self.loop.call_later(delay_ms / 1000, self.expire, task)

    def cancel(self, task: str) -> None:
        if task in self.pending:  # an unknown task is no error
            self.pending.pop(task).cancel()

    def expire(self, task: str) -> None:
        del self.pending[task]
        self.run(task)
