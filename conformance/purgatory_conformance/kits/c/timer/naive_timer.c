// SPDX-License-Identifier: CC0-1.0
#include "naive_timer.h"

#include <stdlib.h>
#include <string.h>

// What a profile that says nothing of it promises to accept.
static const int64_t largest_delay_ms = INT32_MAX;

// Times are far from where their sums would overflow.
static int64_t within_reach(int64_t ms)
{
    const int64_t reach_ms = INT64_MAX / 4;
    return ms > reach_ms ? reach_ms : ms < -reach_ms ? -reach_ms : ms;
}

static bool grow(struct task ***array, size_t *room, size_t needed)
{
    if (needed <= *room)
        return true;
    struct task **grown = realloc(*array, 2 * needed * sizeof **array);
    if (!grown)
        return false;
    *array = grown;
    *room = 2 * needed;
    return true;
}

// The place of an arming in the order of time.
static size_t place(const struct timer *timer, int64_t due_tick, int64_t number)
{
    size_t low = 0, high = timer->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct task *met = timer->armed[middle];
        if (met->due_tick < due_tick || (met->due_tick == due_tick && met->number < number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum timer_refusal timer_add(struct timer *timer, struct task *task, int64_t delay_ms)
{
    if (timer->closed)
        return TIMER_CLOSED;
    if (delay_ms > largest_delay_ms)
        return TIMER_TOO_LARGE;
    if (!grow(&timer->armed, &timer->room, timer->count + 1))
        return TIMER_NO_MEMORY;
    timer_cancel(timer, task); // an earlier arming
    int64_t expiry_ms = within_reach(timer->now_ms) + within_reach(delay_ms);
    int64_t remainder = expiry_ms % timer->tick_ms;
    // Rounding "down", the default; below zero, too.
    task->due_tick = expiry_ms - (remainder < 0 ? remainder + timer->tick_ms : remainder);
    task->number = ++timer->armings;
    task->armed = true;
    size_t at = place(timer, task->due_tick, task->number);
    memmove(timer->armed + at + 1, timer->armed + at, (timer->count - at) * sizeof *timer->armed);
    timer->armed[at] = task;
    timer->count++;
    return TIMER_TAKES_IT;
}

void timer_cancel(struct timer *timer, struct task *task)
{
    if (!task->armed)
        return;
    task->armed = false;
    size_t at = place(timer, task->due_tick, task->number);
    timer->count--;
    memmove(timer->armed + at, timer->armed + at + 1, (timer->count - at) * sizeof *timer->armed);
}

enum timer_refusal timer_advance(struct timer *timer, size_t *handed_over)
{
    size_t due = 0;
    while (due < timer->count && timer->armed[due]->due_tick <= timer->now_ms)
        due++;
    *handed_over = 0;
    if (due && timer->refuses)
        return TIMER_EXECUTOR_REFUSES;
    if (!grow(&timer->queue, &timer->queue_room, timer->queued + due))
        return TIMER_NO_MEMORY;
    for (size_t i = 0; i < due; i++) {
        timer->armed[i]->armed = false;
        timer->queue[timer->queued++] = timer->armed[i];
    }
    timer->count -= due;
    if (due)
        memmove(timer->armed, timer->armed + due, timer->count * sizeof *timer->armed);
    *handed_over = due;
    return TIMER_TAKES_IT;
}

void timer_run_one(struct timer *timer)
{
    if (!timer->queued)
        return;
    struct task *first = timer->queue[0];
    timer->queued--;
    memmove(timer->queue, timer->queue + 1, timer->queued * sizeof *timer->queue);
    first->run(first);
}

void timer_shut_down(struct timer *timer)
{
    timer->closed = true;
    for (size_t i = 0; i < timer->count; i++)
        timer->armed[i]->armed = false;
    timer->count = 0;
}

void timer_free(struct timer *timer)
{
    free(timer->armed);
    free(timer->queue);
}
