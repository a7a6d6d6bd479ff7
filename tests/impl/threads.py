"""Threads of tests: run at once, and kept waiting by a lock."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

LONG_S = 30
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


def let_others_run() -> None:
    """Time for a thread to do what it should not; a thread that rightly sleeps needs none."""
    time.sleep(0.05)
