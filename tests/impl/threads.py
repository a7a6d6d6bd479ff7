"""Threads of tests: run at once, kept waiting by a lock, and seen to lie down."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from purgatory_impl.clocks import Clock

LONG_S = 120
"""A limit that only a test that hangs reaches."""


def in_threads(*bodies: Callable[[], None]) -> None:
    """Run all at once; an exception in one of them fails the test."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(bodies))

    def guarded(body: Callable[[], None]) -> None:
        try:
            start.wait(LONG_S)
            body()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def through_while_held(
    lock: AbstractContextManager[object], calls: Sequence[Callable[[], object]]
) -> list[int]:
    """Which calls, each in a thread of its own, return while a lock is held; then all do."""
    threads = [threading.Thread(target=call) for call in calls]
    with lock:
        for thread in threads:
            thread.start()
        let_others_run()
        through = [number for number, thread in enumerate(threads) if not thread.is_alive()]
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads)
    return through


def gets_through_while_held(
    lock: AbstractContextManager[object], call: Callable[[], object]
) -> bool:
    """Decide whether a call in another thread returns while a lock is held."""
    thread = threading.Thread(target=call)
    with lock:
        thread.start()
        thread.join(LONG_S)
        through = not thread.is_alive()
    thread.join(LONG_S)
    return through


class Sleeps:
    """A clock that records until when a reaper sleeps, each time it lies down."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lies_down = threading.Semaphore(0)
        self.until: list[int | None] = []

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def wait_until(self, condition: threading.Condition, deadline_ms: int | None) -> None:
        self.until.append(deadline_ms)
        self._lies_down.release()
        self._clock.wait_until(condition, deadline_ms)

    def await_next(self) -> None:
        """Wait until the reaper lies down once more."""
        assert self._lies_down.acquire(timeout=LONG_S)


def let_others_run() -> None:
    """Time for a thread to do what it should not; a thread that rightly sleeps needs none."""
    time.sleep(0.05)
