// SPDX-License-Identifier: CC0-1.0
#include "naive_memory_pool.h"

#include <stdlib.h>

enum pool_refusal pool_init(struct memory_pool *pool, int64_t size_bytes, int64_t max_single_bytes, bool strict)
{
    if (max_single_bytes < 1 || size_bytes < max_single_bytes)
        return POOL_INVALID;
    *pool = (struct memory_pool){
        .size_bytes = size_bytes,
        .max_single_bytes = max_single_bytes,
        .available_bytes = size_bytes,
        .strict = strict,
        .allocate = malloc,
    };
    return POOL_TAKES_IT;
}

static void end_dry_spell(struct memory_pool *pool)
{
    if (pool->is_dry) {
        pool->is_dry = false;
        pool->depleted_spells++;
        pool->depleted_ms += pool->now_ms - pool->dry_since_ms;
    }
}

enum pool_refusal pool_try_allocate(struct memory_pool *pool, int64_t size_bytes, struct buffer *buffer)
{
    *buffer = (struct buffer){.size_bytes = size_bytes};
    if (size_bytes < 1 || size_bytes > pool->max_single_bytes)
        return POOL_INVALID;
    if (pool->available_bytes < (pool->strict ? size_bytes : 1)) {
        if (!pool->is_dry)
            pool->dry_since_ms = pool->now_ms;
        pool->is_dry = true;
        return POOL_TAKES_IT;
    }
    buffer->memory = pool->allocate((size_t)size_bytes);
    if (!buffer->memory)
        return POOL_NO_MEMORY; // nothing has been taken yet
    buffer->next = pool->granted;
    pool->granted = buffer;
    end_dry_spell(pool);
    pool->available_bytes -= size_bytes;
    return POOL_TAKES_IT;
}

enum pool_refusal pool_release(struct memory_pool *pool, struct buffer *buffer)
{
    struct buffer **place = &pool->granted;
    while (*place && *place != buffer)
        place = &(*place)->next;
    if (!buffer || !*place)
        return POOL_INVALID; // that is no buffer that is out
    *place = buffer->next;
    end_dry_spell(pool);
    pool->available_bytes += buffer->size_bytes;
    free(buffer->memory);
    buffer->memory = NULL;
    return POOL_TAKES_IT;
}
