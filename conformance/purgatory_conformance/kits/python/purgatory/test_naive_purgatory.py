# SPDX-License-Identifier: CC0-1.0
"""The purgatory keeps nothing of what was completed or cancelled."""

import gc
import unittest
import weakref

from naive_purgatory import DelayedOperation, Purgatory, Timer

HOUR_MS = 3_600_000


class Waiting(DelayedOperation):
    """An operation that can be completed once it is ready."""

    ready = False

    def try_complete(self) -> bool:
        return self.ready and self.force_complete()


class NaivePurgatoryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.timer = Timer(tick_ms=1, start_ms=0)
        self.purgatory = Purgatory(self.timer, purge_interval=100, time_outs=True)
        self.waiting = [Waiting(HOUR_MS) for _ in range(10_000)]
        for operation in self.waiting:
            self.purgatory.try_complete_else_watch(operation, ["a", "b"])

    def assert_nothing_is_kept(self) -> None:
        references = [weakref.ref(operation) for operation in self.waiting]
        self.waiting.clear()
        gc.collect()
        kept = sum(each() is not None for each in references)
        assert kept <= 1  # the variable of a test's loop may hold one
        assert (self.timer.armed, self.purgatory.lists) == ({}, {})

    def test_a_completed_operation_is_not_kept_until_its_time_out(self) -> None:
        for operation in self.waiting:
            operation.force_complete()
        assert self.timer.armed == {}
        self.purgatory.purge_if_due()
        self.assert_nothing_is_kept()

    def test_a_check_leaves_the_entries_under_other_keys_to_the_purge(self) -> None:
        for operation in self.waiting:
            operation.ready = True
        assert self.purgatory.check_and_complete("a") == 10_000
        assert self.purgatory.stale_entries() == 10_000
        self.purgatory.purge_if_due()
        self.assert_nothing_is_kept()

    def test_a_cancelled_operation_is_not_kept_until_its_time_out(self) -> None:
        self.purgatory.cancel_for_key("a")
        self.purgatory.cancel_for_key("b")
        self.assert_nothing_is_kept()
