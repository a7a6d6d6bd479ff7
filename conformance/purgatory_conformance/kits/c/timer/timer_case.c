// SPDX-License-Identifier: CC0-1.0
// The timer behind the protocol: each step becomes a call. Change names until it calls yours.
#include "adapter.h"
#include "naive_timer.h"
#include "names.h"
#include "script.h"

#include <stdlib.h>
#include <string.h>

// What is not declared here is neither asked for nor compared.
static void profile(struct text *profile)
{
    text_add(profile, "{\"executor\":\"%s\",\"features\":[%s\"cancel\",\"readd\",\"change_delay\",\"elapse\","
                      "\"shutdown\",\"script_add\",\"script_cancel\",\"script_advance\"],"
                      "\"observables\":[\"size\",\"queued\",\"advance_result\"]}",
             stepped ? "stepped" : "inline", stepped ? "\"refuse\"," : "");
}

// A timer whose clock the runner moves, and the tasks that it was told of.
struct timer_case {
    struct test_case shared;
    struct timer timer;
    struct names tasks;
};

struct scripted_task {
    struct task task;
    struct script script;
};

static const char *const refusals[] = {
    [TIMER_TOO_LARGE] = "too_large",
    [TIMER_CLOSED] = "closed",
    [TIMER_EXECUTOR_REFUSES] = "refused",
    [TIMER_NO_MEMORY] = "no_memory",
};

static void run(struct task *task)
{
    script_ran(&((struct scripted_task *)task)->script);
}

// The task of a name: one object from its first mention on.
static struct scripted_task *named(struct timer_case *self, const char *name)
{
    struct named *place = names_place(&self->tasks, name);
    if (!place->object) {
        struct scripted_task *task = allocated(1, sizeof *task);
        *task = (struct scripted_task){{.run = run}, {.name = name}};
        place->object = task;
    }
    return place->object;
}

static const char *add(struct timer_case *self, const struct json *asked)
{
    struct scripted_task *task = named(self, json_string(asked, "task"));
    const struct json *former = task->script.actions;
    if (json_member(asked, "op")) // the script of a step replaces it, and none is an empty one
        task->script.actions = json_items(asked, "script");
    enum timer_refusal refusal = timer_add(&self->timer, &task->task, json_integer(asked, "delay_ms", 0));
    if (refusal) // nothing has changed
        task->script.actions = former;
    return refusals[refusal];
}

static const char *advance(struct timer_case *self, bool refuse, struct text *result)
{
    struct timer *timer = &self->timer;
    size_t handed_over;
    timer->refuses = refuse;
    enum timer_refusal refusal = timer_advance(timer, &handed_over);
    for (size_t i = timer->queued - handed_over; stepped && i < timer->queued; i++)
        note("expired", ((struct scripted_task *)timer->queue[i])->script.name, NULL);
    while (!stepped && timer->queued)
        timer_run_one(timer);
    text_add(result, handed_over ? "true" : "false");
    return refusals[refusal];
}

static const char *call(struct test_case *shared, const char *operation, const struct json *asked, struct text *result)
{
    struct timer_case *self = (struct timer_case *)shared;
    struct timer *timer = &self->timer;
    if (!strcmp(operation, "add"))
        return add(self, asked);
    if (!strcmp(operation, "cancel")) {
        timer_cancel(timer, &named(self, json_string(asked, "task"))->task);
    } else if (!strcmp(operation, "elapse")) {
        timer->now_ms = json_integer(asked, "to_ms", timer->now_ms);
    } else if (!strcmp(operation, "advance")) { // in a script without a reading: the clock keeps its own
        timer->now_ms = json_integer(asked, "to_ms", timer->now_ms);
        return advance(self, json_bool(asked, "refuse", false), result);
    } else if (!strcmp(operation, "run_one")) {
        timer_run_one(timer);
    } else if (!strcmp(operation, "shutdown")) {
        timer_shut_down(timer);
    } else {
        return unsupported;
    }
    return NULL;
}

static void observe(struct test_case *shared, struct text *observed)
{
    const struct timer *timer = &((struct timer_case *)shared)->timer;
    text_add(observed, "\"size\":%zu,\"queued\":%zu", timer->count, timer->queued);
}

static void drop(struct test_case *shared)
{
    struct timer_case *self = (struct timer_case *)shared;
    names_free(&self->tasks, free);
    timer_free(&self->timer);
    free(self);
}

static struct test_case *create(const struct json *asked)
{
    int64_t tick_ms = json_integer(asked, "tick_ms", 1); // a wheel takes its wheel_size, too
    if (tick_ms < 1 || tick_ms > INT32_MAX)
        return NULL;
    struct timer_case *self = allocated(1, sizeof *self);
    self->shared = (struct test_case){call, observe, drop};
    self->timer.tick_ms = tick_ms;
    self->timer.now_ms = json_integer(asked, "start_ms", 0);
    return &self->shared;
}

const struct component timer_component = {"timer", profile, create};
