// SPDX-License-Identifier: CC0-1.0
// A naive purgatory: put yours in its place. It knows nothing of the protocol.
//
// Any thread may call it: there is one lock, which nobody holds while a callback runs.
#ifndef NAIVE_PURGATORY_H
#define NAIVE_PURGATORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum purgatory_refusal {
    PURGATORY_TAKES_IT,
    PURGATORY_CLOSED,
    PURGATORY_NO_KEYS,
    PURGATORY_EXECUTOR_REFUSES,
};

// Something that can be completed once: by an event, or else by its time-out.
struct delayed_operation {
    int64_t delay_ms;
    // Completes it with force_complete if it can be, and says whether it did.
    bool (*try_complete)(struct delayed_operation *self);
    void (*on_complete)(struct delayed_operation *self);   // called once, whoever completes it
    void (*on_expiration)(struct delayed_operation *self); // called after it, if it was the time-out
    bool completed;
    size_t entries;        // in all lists
    struct timer *armed;   // the timer that it is in
    size_t place;          // there
    int64_t due_tick, number;
};

struct operations {
    struct delayed_operation **items;
    size_t count, room;
};

// Operations by the tick in which they are due; a clock that somebody else moves.
struct timer {
    int64_t tick_ms, now_ms, armings;
    struct operations armed;
};

// What is watched under a key; one that is completed elsewhere leaves a stale entry.
struct watchers {
    struct operations list;
    struct watchers *next;
    char key[];
};

struct purgatory {
    struct timer timer;
    size_t purge_interval;
    bool time_outs;
    struct watchers *keys;   // one that has no operations is as good as absent
    struct operations queue; // the executor's: expired, not yet run
    bool refuses;            // whether the executor does
    bool closed;
};

struct purgatory_counts {
    size_t entries, keys, stale_entries, timer_size, queued;
};

// Completes it; false if somebody else already has.
bool force_complete(struct delayed_operation *operation);

enum purgatory_refusal try_complete_else_watch(
    struct purgatory *purgatory, struct delayed_operation *operation, const char *const *keys, size_t count,
    bool *completed);
size_t check_and_complete(struct purgatory *purgatory, const char *key);
struct operations cancel_for_key(struct purgatory *purgatory, const char *key); // the caller frees it

// Hands over what is due to the executor, at the end of its queue, and counts it. What the executor
// refuses stays in the timer, and the next advance hands it over.
enum purgatory_refusal purgatory_advance(struct purgatory *purgatory, size_t *handed_over);
bool purgatory_run_one(struct purgatory *purgatory); // false where nothing is queued
void purge_if_due(struct purgatory *purgatory);
void purgatory_shut_down(struct purgatory *purgatory);
struct purgatory_counts purgatory_count(struct purgatory *purgatory);
void purgatory_free(struct purgatory *purgatory);

#endif
