// SPDX-License-Identifier: CC0-1.0
// The pool behind the protocol: each step becomes a call. Change names until it calls yours.
#include "adapter.h"
#include "naive_memory_pool.h"
#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What is not declared here is neither asked for nor compared.
static void profile(struct text *profile)
{
    text_add(profile, "{\"release_validation\":\"identity\",\"features\":[\"strict\",\"non_strict\",\"construct\","
                      "\"release_again\",\"release_slice\",\"release_copy\",\"release_foreign\","
                      "\"release_nothing\",\"elapse\",\"fail\",\"fill\"],"
                      "\"observables\":[\"available_bytes\",\"used_bytes\",\"size_bytes\",\"out_of_memory\","
                      "\"buffer_bytes\",\"depleted_spells\",\"depleted_ms\"]}");
}

// A memory pool, and the buffers that it granted.
struct pool_case {
    struct test_case shared;
    struct memory_pool pool;
    struct names buffers;
    int64_t buffer_bytes; // what this step was granted; 0 where it was nothing
};

static const char *const refusals[] = {
    [POOL_INVALID] = "invalid_argument",
    [POOL_NO_MEMORY] = "no_memory",
};

// Stands in for the allocator where it is to fail.
static void *no_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static const char *allocate(struct pool_case *self, const struct json *asked, struct text *result)
{
    struct buffer *buffer = allocated(1, sizeof *buffer);
    self->pool.allocate = json_bool(asked, "fail", false) ? no_memory : malloc;
    enum pool_refusal refusal = pool_try_allocate(&self->pool, json_integer(asked, "size_bytes", 0), buffer);
    if (buffer->memory) {
        names_place(&self->buffers, json_string(asked, "buffer"))->object = buffer;
        self->buffer_bytes = buffer->size_bytes;
        text_add(result, "true");
        return NULL;
    }
    free(buffer);
    text_add(result, "false");
    return refusals[refusal];
}

// Gives back other memory, which the pool did not grant.
static const char *release_other(struct pool_case *self, int64_t size_bytes)
{
    struct buffer other = {.memory = malloc((size_t)size_bytes), .size_bytes = size_bytes};
    const char *refusal = other.memory ? refusals[pool_release(&self->pool, &other)] : "no_memory";
    free(other.memory);
    return refusal;
}

static const char *release(struct pool_case *self, struct buffer *known, const char *form)
{
    if (!strcmp(form, "copy"))
        return release_other(self, known->size_bytes);
    struct buffer slice = {.memory = known->memory, .size_bytes = known->size_bytes};
    return refusals[pool_release(&self->pool, strcmp(form, "slice") ? known : &slice)];
}

// The byte that is everywhere, or -1.
static int all_over(const struct buffer *buffer)
{
    for (int64_t i = 1; i < buffer->size_bytes; i++) {
        if (buffer->memory[i] != buffer->memory[0])
            return -1;
    }
    return buffer->memory[0];
}

static const char *call(struct test_case *shared, const char *operation, const struct json *asked, struct text *result)
{
    struct pool_case *self = (struct pool_case *)shared;
    self->buffer_bytes = 0;
    if (!strcmp(operation, "allocate"))
        return allocate(self, asked, result);
    if (!strcmp(operation, "release_foreign"))
        return release_other(self, json_integer(asked, "size_bytes", 0));
    if (!strcmp(operation, "release_nothing"))
        return refusals[pool_release(&self->pool, NULL)];
    if (!strcmp(operation, "construct")) {
        struct memory_pool other;
        int64_t size_bytes = json_integer(asked, "size_bytes", 0);
        return refusals[pool_init(&other, size_bytes, json_integer(asked, "max_single_bytes", 0), false)];
    }
    if (!strcmp(operation, "elapse")) {
        self->pool.now_ms = json_integer(asked, "to_ms", 0);
        return NULL;
    }
    if (strcmp(operation, "release") && strcmp(operation, "fill") && strcmp(operation, "read"))
        return unsupported;
    struct buffer *known = names_place(&self->buffers, json_string(asked, "buffer"))->object;
    if (!known)
        return "unknown_name";
    if (!strcmp(operation, "release"))
        return release(self, known, json_string(asked, "form"));
    if (!known->memory)
        return "invalid_argument";
    if (!strcmp(operation, "fill"))
        memset(known->memory, (int)json_integer(asked, "value", 0), (size_t)known->size_bytes);
    else
        text_add(result, "%d", all_over(known));
    return NULL;
}

static void observe(struct test_case *shared, struct text *observed)
{
    const struct pool_case *self = (struct pool_case *)shared;
    const struct memory_pool *pool = &self->pool;
    text_add(observed, "\"available_bytes\":%" PRId64 ",\"used_bytes\":%" PRId64 ",\"size_bytes\":%" PRId64,
             pool->available_bytes, pool->size_bytes - pool->available_bytes, pool->size_bytes);
    text_add(observed, ",\"out_of_memory\":%s", pool->available_bytes <= 0 ? "true" : "false");
    text_add(observed, ",\"depleted_spells\":%" PRId64 ",\"depleted_ms\":%" PRId64,
             pool->depleted_spells, pool->depleted_ms);
    text_add(observed, self->buffer_bytes ? ",\"buffer_bytes\":%" PRId64 : ",\"buffer_bytes\":null",
             self->buffer_bytes);
}

static void free_buffer(void *buffer)
{
    free(((struct buffer *)buffer)->memory);
    free(buffer);
}

static void drop(struct test_case *shared)
{
    struct pool_case *self = (struct pool_case *)shared;
    names_free(&self->buffers, free_buffer);
    free(self);
}

static struct test_case *create(const struct json *asked)
{
    struct pool_case *self = allocated(1, sizeof *self);
    self->shared = (struct test_case){call, observe, drop};
    int64_t size_bytes = json_integer(asked, "size_bytes", 100);
    int64_t max_single_bytes = json_integer(asked, "max_single_bytes", 40);
    if (!pool_init(&self->pool, size_bytes, max_single_bytes, json_bool(asked, "strict", false)))
        return &self->shared;
    free(self);
    return NULL;
}

const struct component memory_pool_component = {"memory_pool", profile, create};
