"""The timer on a heap: cancelled entries stay, but not without end."""

import threading
import time

import pytest

from purgatory_lab.benchmarks.python_peer.timers import HeapTimer, ThreadedHeapTimer

pytestmark = pytest.mark.verify


def test_cancelled_entries_never_outnumber_the_others_by_much() -> None:
    timer = HeapTimer()
    for _ in range(200):
        timer.add(int, 50)
    for _ in range(5_000):
        timer.cancel(timer.add(int, 100))
        assert len(timer._heap) <= 2 * timer.size + 2
    assert timer.size == 200


def test_its_thread_calls_and_ends() -> None:
    timer, called = ThreadedHeapTimer(), threading.Event()
    timer.add(int, 600_000)
    cancelled = timer.add(called.set, 500_000)
    assert timer.cancel(cancelled)
    began = time.monotonic()
    timer.add(called.set, 20)
    assert called.wait(60)  # the thread would sleep for longer if the new task did not wake it
    assert time.monotonic() - began >= 0.019
    timer.close()
    assert (timer.size, timer._worker.is_alive()) == (1, False)
