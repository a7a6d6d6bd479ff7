"""The timer on a heap: cancelled entries stay, but not without end."""

import threading
import time

from purgatory_bench.python_peer.heap_timer import HeapTimer, ThreadedHeapTimer


def test_it_calls_what_is_due_in_the_order_of_the_times() -> None:
    timer, called = HeapTimer(), list[int]()
    for delay_ms in (30, 10, 20, 10):
        timer.add(lambda delay_ms=delay_ms: called.append(delay_ms), delay_ms)  # type: ignore[misc]
    timer.lead_to(9)
    assert called == []
    timer.lead_to(20)
    assert (called, timer.size) == ([10, 10, 20], 1)
    timer.lead_to(100)
    assert (called, timer.size) == ([10, 10, 20, 30], 0)


def test_what_is_cancelled_is_not_called() -> None:
    timer, called = HeapTimer(), list[str]()
    kept = timer.add(lambda: called.append("kept"), 5)
    gone = timer.add(lambda: called.append("gone"), 5)
    assert (timer.cancel(gone), timer.cancel(gone), timer.size) == (True, False, 1)
    timer.lead_to(5)
    assert (called, timer.size, timer.cancel(kept)) == (["kept"], 0, False)


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
    timer.add(int, 60_000)
    cancelled = timer.add(called.set, 1_000)
    assert timer.cancel(cancelled)
    began = time.monotonic()
    timer.add(called.set, 20)
    assert called.wait(10)
    assert 0.019 <= time.monotonic() - began < 0.9
    timer.close()
    assert (timer.size, timer._worker.is_alive()) == (1, False)
