// SPDX-License-Identifier: CC0-1.0
#include "other_thread.h"

#include "json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const long grace_ms = 50, most_ms = 30000;

struct turn {
    void (*call)(void *);
    void *argument;
    struct turn *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct turn *first, **last = &first;
static long asked, returned;

static void *work(void *nothing)
{
    pthread_mutex_lock(&lock);
    while (true) {
        while (!first)
            pthread_cond_wait(&changed, &lock);
        struct turn *turn = first;
        first = turn->next;
        if (!first)
            last = &first;
        pthread_mutex_unlock(&lock);
        turn->call(turn->argument);
        free(turn);
        pthread_mutex_lock(&lock);
        returned++;
        pthread_cond_broadcast(&changed);
    }
    return nothing;
}

// Waits, with the lock, until so many calls have returned, or the time is over.
static bool wait_for(long count, long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (returned < count && !pthread_cond_timedwait(&changed, &lock, &until))
        continue;
    return returned >= count;
}

void other_thread_call(void (*call)(void *), void *argument)
{
    static pthread_t thread;
    static bool started;
    struct turn *turn = allocated(1, sizeof *turn);
    *turn = (struct turn){call, argument, NULL};
    pthread_mutex_lock(&lock);
    if (!started)
        started = !pthread_create(&thread, NULL, work, NULL);
    bool is_behind = returned < asked;
    long number = ++asked;
    *last = turn;
    last = &turn->next;
    pthread_cond_broadcast(&changed);
    if (!is_behind)
        wait_for(number, grace_ms);
    pthread_mutex_unlock(&lock);
}

void other_thread_end_step(void)
{
    pthread_mutex_lock(&lock);
    if (!wait_for(asked, most_ms)) {
        fputs("a call of the other thread does not return: the threads wait for each other\n", stderr);
        abort();
    }
    pthread_mutex_unlock(&lock);
}
