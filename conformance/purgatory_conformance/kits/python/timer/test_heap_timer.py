# SPDX-License-Identifier: CC0-1.0
"""The timer keeps nothing of what was cancelled or moved."""

import unittest

from heap_timer import HeapTimer

HOUR_MS = 3_600_000


class HeapTimerTest(unittest.TestCase):
    def test_a_cancelled_task_is_not_kept_until_it_is_due(self) -> None:
        timer = HeapTimer(tick_ms=1, start_ms=0)
        for number in range(10_000):
            timer.add(str(number), HOUR_MS)
        for number in range(10_000):
            timer.cancel(str(number))
        assert (timer.heap, timer.pending) == ([], {})

    def test_a_task_that_is_moved_is_kept_once(self) -> None:
        timer = HeapTimer(tick_ms=1, start_ms=0)
        for _ in range(10_000):
            timer.add("task", HOUR_MS)
        assert len(timer.heap) <= 2
