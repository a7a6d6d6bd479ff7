# SPDX-License-Identifier: CC0-1.0
"""The other thread of a step: it makes calls one by one while a callback stands still."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

GRACE_S = 0.05
MOST_S = 30.0


class OtherThread:
    """A thread from the first call of a step to the end of the step."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[tuple[Callable[[], None], Event] | None] = SimpleQueue()
        self.waiting: list[Event] = []
        self.thread: Thread | None = None

    def call(self, call: Callable[[], None]) -> None:
        """Have a call made; return when it has returned, or waits for what its caller holds."""
        done, is_behind = Event(), bool(self.waiting)
        self.waiting.append(done)
        self.calls.put((call, done))
        if self.thread is None:
            self.thread = Thread(target=self.work, daemon=True)
            self.thread.start()
        if not is_behind and done.wait(GRACE_S):
            self.waiting.remove(done)

    def end_step(self) -> None:
        """Wait for what has not returned yet, and end the thread."""
        for done in self.waiting:  # also what is appended meanwhile
            if not done.wait(MOST_S):
                raise TimeoutError("a call does not return: the threads wait for each other")
        self.waiting.clear()
        if self.thread is not None:
            self.calls.put(None)
            self.thread.join()
            self.thread = None

    def work(self) -> None:
        while (asked := self.calls.get()) is not None:
            call, done = asked
            try:
                call()
            finally:
                done.set()
