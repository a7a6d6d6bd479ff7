"""The other thread of a step, which makes calls while a callback stands still.

A call that does not return soon waits for what the callback's own call holds: the callback goes on,
and the step ends when the other thread is through.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

GRACE_S = 0.05
"""How long a callback stands still for a call that does not return, s."""

_MOST_S = 30.0


class OtherThread:
    """A thread that makes one call after the other; it is started by the first and kept."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        """Nothing has been called yet; a call that takes longer than ``grace_s`` waits."""
        self._grace_s = grace_s
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle: list[Event] = []
        self._thread: Thread | None = None

    def call(self, call: Callable[[], object]) -> None:
        """Make a call, and stand still until it has returned or is seen to wait."""
        done = Event()

        def carry_out() -> None:
            try:
                call()
            finally:
                done.set()

        waits = bool(self._idle)
        self._idle.append(done)
        self._calls.put(carry_out)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="meanwhile", daemon=True)
            self._thread.start()
        if not waits and done.wait(self._grace_s):
            self._idle.remove(done)

    def end_step(self) -> None:
        """Wait for what has not returned yet.

        Raises:
            TimeoutError: a call has not returned after 30 s; what it waits for never comes.
        """
        for done in self._idle:
            if not done.wait(_MOST_S):
                raise TimeoutError(
                    f"a call that another thread made inside a callback has not returned after "
                    f"{_MOST_S:.0f} s, though the callback has: the threads wait for each other"
                )
        self._idle.clear()

    def _work(self) -> None:
        while True:
            self._calls.get()()
