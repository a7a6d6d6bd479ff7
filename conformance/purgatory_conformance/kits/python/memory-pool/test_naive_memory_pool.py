# SPDX-License-Identifier: CC0-1.0
"""The pool is as before where the memory for a buffer cannot be had."""

import unittest

from naive_memory_pool import MemoryPool

LARGE = 2**50


def fails(pool: MemoryPool, size_bytes: int) -> bool:
    """Ask for a buffer, and say whether there was no memory for it."""
    try:
        pool.try_allocate(size_bytes)
    except MemoryError:
        return True
    return False


class NaiveMemoryPoolTest(unittest.TestCase):
    def test_an_allocation_that_fails_takes_nothing(self) -> None:
        pool = MemoryPool(LARGE, LARGE, strict=False)
        assert fails(pool, LARGE // 2)
        assert (pool.available_bytes, pool.granted) == (LARGE, {})
        assert pool.try_allocate(1) is not None

    def test_an_allocation_that_fails_ends_no_dry_spell(self) -> None:
        pool = MemoryPool(LARGE, LARGE, strict=True)
        assert pool.try_allocate(1) is not None
        assert pool.try_allocate(LARGE) is None  # a dry spell begins
        assert fails(pool, LARGE // 2)
        assert pool.depleted_spells == 0
        assert pool.try_allocate(1) is not None
        assert pool.depleted_spells == 1
