"""The other thread of a step, which makes calls while a callback stands still.

A call that does not return soon waits for what the callback's own call holds: the callback goes on,
and the step ends when the other thread is through, which ends with it.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

GRACE_S = 0.05
"""The seconds that a callback stands still for a call that does not return."""

_MOST_S = 30.0


class OtherThread:
    """A thread that makes the calls of a step one after the other; the first call starts it."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        """Begin without a call; one that takes longer than ``grace_s`` waits."""
        self._grace_s = grace_s
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle: list[Event] = []
        self._thread: Thread | None = None
        self._failure: BaseException | None = None

    def call(self, call: Callable[[], object]) -> None:
        """Make a call, and stand still until it has returned or is seen to wait."""
        done = Event()

        def carry_out() -> None:
            try:
                call()
            except BaseException as failure:
                self._failure = failure
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
        """Wait for what has not returned yet, and end the thread.

        Raises:
            TimeoutError: a call has not returned after 30 s; what it waits for never comes.
            BaseException: what a call has raised.
        """
        for done in self._idle:
            if not done.wait(_MOST_S):
                raise TimeoutError(
                    f"a call that another thread made inside a callback has not returned after "
                    f"{_MOST_S:.0f} s, though the callback has: the threads wait for each other"
                )
        self._idle.clear()
        if self._thread is not None:
            self._calls.put(None)
            self._thread.join()
            self._thread = None
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
