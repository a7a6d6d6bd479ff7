// SPDX-License-Identifier: CC0-1.0
// A naive memory pool: put yours in its place. It knows nothing of the protocol.
#ifndef NAIVE_MEMORY_POOL_H
#define NAIVE_MEMORY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pool_refusal { POOL_TAKES_IT, POOL_INVALID, POOL_NO_MEMORY };

// A buffer: two are the same only if they are the same object.
struct buffer {
    unsigned char *memory;
    int64_t size_bytes;
    struct buffer *next; // in the pool's list of those that are out
};

// Grants buffers while there is something left, and says no otherwise.
struct memory_pool {
    int64_t size_bytes, max_single_bytes, available_bytes;
    bool strict;
    void *(*allocate)(size_t bytes); // where the memory comes from: malloc
    struct buffer *granted;
    int64_t now_ms; // a clock that somebody else moves
    bool is_dry;
    int64_t dry_since_ms, depleted_ms, depleted_spells;
};

enum pool_refusal pool_init(struct memory_pool *pool, int64_t size_bytes, int64_t max_single_bytes, bool strict);

// Makes a buffer; its memory is NULL where there is not enough left.
enum pool_refusal pool_try_allocate(struct memory_pool *pool, int64_t size_bytes, struct buffer *buffer);
enum pool_refusal pool_release(struct memory_pool *pool, struct buffer *buffer);

#endif
