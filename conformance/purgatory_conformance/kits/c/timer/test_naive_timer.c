// SPDX-License-Identifier: CC0-1.0
// The timer keeps nothing of what was cancelled or moved.
#include "naive_timer.h"
#include "tests.h"

enum { MANY = 10000, HOUR_MS = 3600000 };

static void nothing(struct task *self) { (void)self; }

static bool a_cancelled_task_is_not_kept_until_it_is_due(void)
{
    static struct task tasks[MANY];
    struct timer timer = {.tick_ms = 1};
    for (int i = 0; i < MANY; i++) {
        tasks[i].run = nothing;
        timer_add(&timer, &tasks[i], HOUR_MS);
    }
    for (int i = 0; i < MANY; i++)
        timer_cancel(&timer, &tasks[i]);
    bool holds = timer.count == 0;
    timer_free(&timer);
    return holds;
}

static bool a_task_that_is_moved_is_kept_once(void)
{
    struct timer timer = {.tick_ms = 1};
    struct task task = {.run = nothing};
    for (int i = 0; i < MANY; i++)
        timer_add(&timer, &task, HOUR_MS);
    bool holds = timer.count == 1;
    timer_free(&timer);
    return holds;
}

void test_naive_timer(void)
{
    TEST(a_cancelled_task_is_not_kept_until_it_is_due);
    TEST(a_task_that_is_moved_is_kept_once);
}
