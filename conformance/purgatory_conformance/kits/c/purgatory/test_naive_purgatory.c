// SPDX-License-Identifier: CC0-1.0
// The purgatory keeps nothing of what was completed or cancelled.
#include "naive_purgatory.h"
#include "tests.h"

#include <stdlib.h>

enum { MANY = 10000, HOUR_MS = 3600000 };

static struct delayed_operation waiting[MANY];
static bool is_ready;

static bool try_complete(struct delayed_operation *self) { return is_ready && force_complete(self); }

static void nothing(struct delayed_operation *self) { (void)self; }

// All wait for an hour, under both keys.
static void fill(struct purgatory *purgatory)
{
    static const char *const keys[] = {"a", "b"};
    bool completed;
    is_ready = false;
    *purgatory = (struct purgatory){.timer = {.tick_ms = 1}, .purge_interval = 100, .time_outs = true};
    for (int i = 0; i < MANY; i++) {
        waiting[i] = (struct delayed_operation){HOUR_MS, try_complete, nothing, nothing};
        try_complete_else_watch(purgatory, &waiting[i], keys, 2, &completed);
    }
}

static bool keeps_nothing(struct purgatory *purgatory)
{
    purge_if_due(purgatory);
    struct purgatory_counts counts = purgatory_count(purgatory);
    purgatory_free(purgatory);
    return counts.timer_size == 0 && counts.entries == 0;
}

static bool a_completed_operation_is_not_kept_until_its_time_out(void)
{
    struct purgatory purgatory;
    fill(&purgatory);
    for (int i = 0; i < MANY; i++)
        force_complete(&waiting[i]);
    return keeps_nothing(&purgatory);
}

static bool a_check_leaves_the_entries_under_other_keys_to_the_purge(void)
{
    struct purgatory purgatory;
    fill(&purgatory);
    is_ready = true;
    bool completes = check_and_complete(&purgatory, "a") == MANY;
    bool leaves = purgatory_count(&purgatory).stale_entries == MANY;
    return keeps_nothing(&purgatory) && completes && leaves;
}

static bool a_cancelled_operation_is_not_kept_until_its_time_out(void)
{
    struct purgatory purgatory;
    fill(&purgatory);
    free(cancel_for_key(&purgatory, "a").items);
    free(cancel_for_key(&purgatory, "b").items);
    return keeps_nothing(&purgatory);
}

void test_naive_purgatory(void)
{
    TEST(a_completed_operation_is_not_kept_until_its_time_out);
    TEST(a_check_leaves_the_entries_under_other_keys_to_the_purge);
    TEST(a_cancelled_operation_is_not_kept_until_its_time_out);
}
