// SPDX-License-Identifier: CC0-1.0
#include "naive_purgatory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *checked(void *memory)
{
    if (!memory) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void append(struct operations *list, struct delayed_operation *operation)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 4;
        list->items = checked(realloc(list->items, list->room * sizeof *list->items));
    }
    list->items[list->count++] = operation;
}

static void take_out(struct operations *list, size_t place)
{
    list->count--;
    memmove(list->items + place, list->items + place + 1, (list->count - place) * sizeof *list->items);
}

// Times are far from where their sums would overflow.
static int64_t within_reach(int64_t ms)
{
    const int64_t reach_ms = INT64_MAX / 4;
    return ms > reach_ms ? reach_ms : ms < -reach_ms ? -reach_ms : ms;
}

static void disarm(struct delayed_operation *operation)
{
    struct timer *timer = operation->armed;
    if (!timer)
        return;
    operation->armed = NULL;
    struct delayed_operation *moved = timer->armed.items[--timer->armed.count]; // into the gap
    timer->armed.items[operation->place] = moved;
    moved->place = operation->place;
}

static void arm(struct timer *timer, struct delayed_operation *operation)
{
    disarm(operation); // an earlier arming
    int64_t expiry_ms = within_reach(timer->now_ms) + within_reach(operation->delay_ms);
    int64_t remainder = expiry_ms % timer->tick_ms;
    operation->due_tick = expiry_ms - (remainder < 0 ? remainder + timer->tick_ms : remainder);
    operation->number = ++timer->armings;
    operation->armed = timer;
    operation->place = timer->armed.count;
    append(&timer->armed, operation);
}

static bool is_completed(struct delayed_operation *operation)
{
    pthread_mutex_lock(&lock);
    bool completed = operation->completed;
    pthread_mutex_unlock(&lock);
    return completed;
}

bool force_complete(struct delayed_operation *operation)
{
    pthread_mutex_lock(&lock);
    bool is_first = !operation->completed;
    operation->completed = true;
    disarm(operation);
    pthread_mutex_unlock(&lock);
    if (is_first)
        operation->on_complete(operation);
    return is_first;
}

static struct watchers *watchers_of(struct purgatory *purgatory, const char *key)
{
    struct watchers *found = purgatory->keys;
    while (found && strcmp(found->key, key))
        found = found->next;
    if (!found) {
        found = checked(calloc(1, sizeof *found + strlen(key) + 1));
        strcpy(found->key, key);
        found->next = purgatory->keys;
        purgatory->keys = found;
    }
    return found;
}

enum purgatory_refusal try_complete_else_watch(
    struct purgatory *purgatory, struct delayed_operation *operation, const char *const *keys, size_t count,
    bool *completed)
{
    *completed = false;
    pthread_mutex_lock(&lock);
    bool closed = purgatory->closed;
    pthread_mutex_unlock(&lock);
    if (closed)
        return PURGATORY_CLOSED;
    if (!count)
        return PURGATORY_NO_KEYS;
    if (is_completed(operation))
        return PURGATORY_TAKES_IT;
    *completed = operation->try_complete(operation);
    if (*completed)
        return PURGATORY_TAKES_IT;
    pthread_mutex_lock(&lock);
    bool waits = !operation->completed;
    for (size_t i = 0; waits && i < count; i++) {
        append(&watchers_of(purgatory, keys[i])->list, operation);
        operation->entries++;
    }
    if (waits && purgatory->time_outs)
        arm(&purgatory->timer, operation);
    pthread_mutex_unlock(&lock);
    *completed = waits && operation->try_complete(operation);
    return PURGATORY_TAKES_IT;
}

// Takes out one entry, unless a callback has taken it already.
static void drop_entry(struct operations *list, struct delayed_operation *operation)
{
    size_t place = 0;
    while (place < list->count && list->items[place] != operation)
        place++;
    if (place < list->count) {
        take_out(list, place);
        operation->entries--;
    }
}

size_t check_and_complete(struct purgatory *purgatory, const char *key)
{
    size_t completed = 0;
    struct operations met = {0};
    pthread_mutex_lock(&lock);
    struct operations *list = &watchers_of(purgatory, key)->list;
    for (size_t i = 0; i < list->count; i++)
        append(&met, list->items[i]);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < met.count; i++) {
        if (!is_completed(met.items[i]) && met.items[i]->try_complete(met.items[i]))
            completed++;
        pthread_mutex_lock(&lock);
        if (met.items[i]->completed) // only the entry that is met goes now, not those passed before
            drop_entry(list, met.items[i]);
        pthread_mutex_unlock(&lock);
    }
    free(met.items);
    return completed;
}

struct operations cancel_for_key(struct purgatory *purgatory, const char *key)
{
    pthread_mutex_lock(&lock);
    struct watchers *watchers = watchers_of(purgatory, key);
    struct operations cancelled = watchers->list;
    watchers->list = (struct operations){0};
    for (size_t i = 0; i < cancelled.count; i++) {
        if (!--cancelled.items[i]->entries)
            disarm(cancelled.items[i]);
    }
    pthread_mutex_unlock(&lock);
    return cancelled;
}

static int in_order_of_time(const void *one, const void *other)
{
    const struct delayed_operation *a = *(struct delayed_operation *const *)one;
    const struct delayed_operation *b = *(struct delayed_operation *const *)other;
    if (a->due_tick != b->due_tick)
        return a->due_tick < b->due_tick ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

enum purgatory_refusal purgatory_advance(struct purgatory *purgatory, size_t *handed_over)
{
    struct operations due = {0};
    pthread_mutex_lock(&lock);
    struct operations *armed = &purgatory->timer.armed;
    for (size_t i = 0; !purgatory->closed && i < armed->count; i++) {
        if (armed->items[i]->due_tick <= purgatory->timer.now_ms)
            append(&due, armed->items[i]);
    }
    bool refused = due.count && purgatory->refuses;
    if (due.count)
        qsort(due.items, due.count, sizeof *due.items, in_order_of_time);
    for (size_t i = 0; !refused && i < due.count; i++) {
        disarm(due.items[i]);
        append(&purgatory->queue, due.items[i]);
    }
    *handed_over = refused ? 0 : due.count;
    pthread_mutex_unlock(&lock);
    free(due.items);
    return refused ? PURGATORY_EXECUTOR_REFUSES : PURGATORY_TAKES_IT;
}

bool purgatory_run_one(struct purgatory *purgatory)
{
    struct delayed_operation *first = NULL;
    pthread_mutex_lock(&lock);
    if (purgatory->queue.count) {
        first = purgatory->queue.items[0];
        take_out(&purgatory->queue, 0);
    }
    pthread_mutex_unlock(&lock);
    if (first && force_complete(first))
        first->on_expiration(first);
    return first;
}

void purge_if_due(struct purgatory *purgatory)
{
    bool is_due = purgatory_count(purgatory).stale_entries > purgatory->purge_interval;
    pthread_mutex_lock(&lock);
    for (struct watchers *each = is_due ? purgatory->keys : NULL; each; each = each->next) {
        size_t waiting = 0;
        for (size_t i = 0; i < each->list.count; i++) {
            if (each->list.items[i]->completed)
                each->list.items[i]->entries--;
            else
                each->list.items[waiting++] = each->list.items[i];
        }
        each->list.count = waiting;
    }
    pthread_mutex_unlock(&lock);
}

void purgatory_shut_down(struct purgatory *purgatory)
{
    pthread_mutex_lock(&lock);
    purgatory->closed = true;
    pthread_mutex_unlock(&lock);
}

struct purgatory_counts purgatory_count(struct purgatory *purgatory)
{
    struct purgatory_counts counts = {0};
    pthread_mutex_lock(&lock);
    counts.timer_size = purgatory->timer.armed.count;
    counts.queued = purgatory->queue.count;
    for (struct watchers *each = purgatory->keys; each; each = each->next) {
        counts.entries += each->list.count;
        counts.keys += each->list.count > 0;
        for (size_t i = 0; i < each->list.count; i++)
            counts.stale_entries += each->list.items[i]->completed;
    }
    pthread_mutex_unlock(&lock);
    return counts;
}

void purgatory_free(struct purgatory *purgatory)
{
    while (purgatory->keys) {
        struct watchers *next = purgatory->keys->next;
        free(purgatory->keys->list.items);
        free(purgatory->keys);
        purgatory->keys = next;
    }
    free(purgatory->queue.items);
    free(purgatory->timer.armed.items);
}
