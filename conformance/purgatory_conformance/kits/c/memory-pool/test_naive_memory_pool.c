// SPDX-License-Identifier: CC0-1.0
// An allocation that fails changes nothing.
#include "naive_memory_pool.h"
#include "tests.h"

#include <stdlib.h>

static const int64_t large = INT64_C(1) << 50;

static void *small_memory(size_t bytes) { return bytes > 1024 ? NULL : malloc(bytes); }

static bool grants(struct memory_pool *pool, int64_t size_bytes)
{
    struct buffer buffer;
    pool_try_allocate(pool, size_bytes, &buffer);
    return buffer.memory && !pool_release(pool, &buffer);
}

static bool an_allocation_that_fails_takes_nothing(void)
{
    struct memory_pool pool;
    struct buffer buffer;
    pool_init(&pool, large, large, false);
    pool.allocate = small_memory;
    bool fails = pool_try_allocate(&pool, large / 2, &buffer) == POOL_NO_MEMORY;
    return fails && pool.available_bytes == large && !pool.granted && grants(&pool, 1);
}

static bool an_allocation_that_fails_ends_no_dry_spell(void)
{
    struct memory_pool pool;
    struct buffer buffer;
    pool_init(&pool, large, large, true);
    pool.allocate = small_memory;
    struct buffer held;
    bool begins = !pool_try_allocate(&pool, 1, &held) && !grants(&pool, large); // a dry spell
    bool fails = pool_try_allocate(&pool, large / 2, &buffer) == POOL_NO_MEMORY;
    bool holds = begins && fails && !pool.depleted_spells && grants(&pool, 1) && pool.depleted_spells == 1;
    pool_release(&pool, &held);
    return holds;
}

void test_naive_memory_pool(void)
{
    TEST(an_allocation_that_fails_takes_nothing);
    TEST(an_allocation_that_fails_ends_no_dry_spell);
}
