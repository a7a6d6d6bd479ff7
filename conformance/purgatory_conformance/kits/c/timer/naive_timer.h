// SPDX-License-Identifier: CC0-1.0
// A naive timer on a sorted array: put yours in its place. It knows nothing of the protocol.
#ifndef NAIVE_TIMER_H
#define NAIVE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum timer_refusal { TIMER_TAKES_IT, TIMER_TOO_LARGE, TIMER_CLOSED, TIMER_EXECUTOR_REFUSES, TIMER_NO_MEMORY };

// A task; its owner keeps it for as long as the timer or the executor may.
struct task {
    void (*run)(struct task *self);
    bool armed;
    int64_t due_tick;
    int64_t number; // of its arming
};

// Tasks by the tick in which they are due; a clock that somebody else moves.
struct timer {
    int64_t tick_ms, now_ms, armings;
    struct task **armed; // sorted
    size_t count, room;
    struct task **queue; // the executor's: expired, not yet run
    size_t queued, queue_room;
    bool refuses; // whether the executor does
    bool closed;
};

enum timer_refusal timer_add(struct timer *timer, struct task *task, int64_t delay_ms);
void timer_cancel(struct timer *timer, struct task *task); // one that was never added is no error

// Hands over what is due to the executor, at the end of its queue, and counts it. What the executor
// refuses stays in the timer, and the next advance hands it over.
enum timer_refusal timer_advance(struct timer *timer, size_t *handed_over);
void timer_run_one(struct timer *timer);
void timer_shut_down(struct timer *timer);
void timer_free(struct timer *timer);

#endif
