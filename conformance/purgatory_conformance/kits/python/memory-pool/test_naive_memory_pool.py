# SPDX-License-Identifier: CC0-1.0
"""The pool is as before where the memory for a buffer cannot be had."""

import unittest

from naive_memory_pool import MemoryPool

LARGE = 2**50


class NaiveMemoryPoolTest(unittest.TestCase):
    def test_an_allocation_that_fails_takes_nothing(self) -> None:
        pool = MemoryPool(LARGE, LARGE, strict=False)
        with self.assertRaises(MemoryError):
            pool.try_allocate(LARGE // 2)
        self.assertEqual((pool.available_bytes, pool.granted), (LARGE, {}))
        self.assertIsNotNone(pool.try_allocate(1))

    def test_an_allocation_that_fails_ends_no_dry_spell(self) -> None:
        pool = MemoryPool(LARGE, LARGE, strict=True)
        self.assertIsNotNone(pool.try_allocate(1))
        self.assertIsNone(pool.try_allocate(LARGE))  # a dry spell begins
        with self.assertRaises(MemoryError):
            pool.try_allocate(LARGE // 2)
        self.assertEqual(pool.depleted_spells, 0)
        self.assertIsNotNone(pool.try_allocate(1))
        self.assertEqual(pool.depleted_spells, 1)
