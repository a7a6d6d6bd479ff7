// SPDX-License-Identifier: CC0-1.0
// The purgatory behind the protocol: each step becomes a call. Change names until it calls yours.
#include "adapter.h"
#include "naive_purgatory.h"
#include "names.h"
#include "script.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// What is not declared here is neither asked for nor compared.
static void profile(struct text *profile)
{
    text_add(profile, "{\"accounting\":\"exact\",\"check_drops\":\"as_passed\",\"executor\":\"%s\",\"features\":[%s"
                      "\"force\",\"cancel_for_key\",\"rewatch\",\"duplicate_keys\",\"elapse\",\"shutdown\","
                      "\"no_time_outs\",\"script_watch\",\"script_check\",\"script_cancel_for_key\","
                      "\"script_force\",\"script_try\",\"script_meanwhile\",\"script_crosswise\"],"
                      "\"observables\":[\"entries\",\"keys\",\"stale_entries\",\"timer_size\",\"queued\","
                      "\"pending\",\"estimate\",\"callback_timer_size\"]}",
             stepped ? "stepped" : "inline", stepped ? "\"refuse\"," : "");
}

// A purgatory whose clock the runner moves, and the operations that it was told of.
struct purgatory_case {
    struct test_case shared;
    struct purgatory purgatory;
    struct names operations;
    pthread_mutex_t naming;
    bool was_completed; // in this step
    size_t callback_timer_size; // as the last on_complete of this step began
};

struct scripted_operation {
    struct delayed_operation operation;
    struct operation_script script;
    struct purgatory_case *owner;
};

static const char *const refusals[] = {
    [PURGATORY_CLOSED] = "closed",
    [PURGATORY_NO_KEYS] = "invalid_argument",
    [PURGATORY_EXECUTOR_REFUSES] = "refused",
};

static bool try_complete(struct delayed_operation *operation)
{
    return script_tried(&((struct scripted_operation *)operation)->script) && force_complete(operation);
}

static void on_complete(struct delayed_operation *operation)
{
    struct scripted_operation *self = (struct scripted_operation *)operation;
    self->owner->callback_timer_size = purgatory_count(&self->owner->purgatory).timer_size;
    self->owner->was_completed = true;
    script_completed(&self->script);
}

static void on_expiration(struct delayed_operation *operation)
{
    script_timed_out(&((struct scripted_operation *)operation)->script);
}

// The operation of a name; the step or action that introduces the name gives delay and script.
static struct scripted_operation *named(struct purgatory_case *self, const struct json *asked)
{
    pthread_mutex_lock(&self->naming);
    const char *name = json_string(asked, "operation");
    struct named *place = names_place(&self->operations, name);
    if (!place->object) {
        struct scripted_operation *made = allocated(1, sizeof *made);
        *made = (struct scripted_operation){
            .operation = {json_integer(asked, "delay_ms", 0), try_complete, on_complete, on_expiration},
            .script = operation_script(name, json_member(asked, "script")),
            .owner = self,
        };
        place->object = made;
    }
    struct scripted_operation *found = place->object;
    pthread_mutex_unlock(&self->naming);
    return found;
}

static const char *watch(struct purgatory_case *self, const struct json *asked, struct text *result)
{
    size_t count = 0, given = 0;
    for (const struct json *key = json_items(asked, "keys"); key; key = key->next)
        given++;
    const char **keys = allocated(given, sizeof *keys);
    for (const struct json *key = json_items(asked, "keys"); key; key = key->next)
        keys[count++] = key->kind == JSON_STRING ? key->string : "";
    bool completed;
    struct delayed_operation *operation = &named(self, asked)->operation;
    enum purgatory_refusal refusal = try_complete_else_watch(&self->purgatory, operation, keys, count, &completed);
    free(keys);
    text_add(result, completed ? "true" : "false");
    return refusals[refusal];
}

static const char *advance(struct purgatory_case *self, bool refuse)
{
    struct purgatory *purgatory = &self->purgatory;
    size_t handed_over;
    purgatory->refuses = refuse;
    enum purgatory_refusal refusal = purgatory_advance(purgatory, &handed_over);
    for (size_t i = purgatory->queue.count - handed_over; stepped && i < purgatory->queue.count; i++)
        note("expired", ((struct scripted_operation *)purgatory->queue.items[i])->script.name, NULL);
    while (!stepped && purgatory_run_one(purgatory))
        continue;
    if (!refusal)
        purge_if_due(purgatory);
    return refusals[refusal];
}

static void cancel(struct purgatory_case *self, const char *key, struct text *result)
{
    struct operations cancelled = cancel_for_key(&self->purgatory, key);
    text_add(result, "[");
    for (size_t i = 0; i < cancelled.count; i++) {
        text_add(result, i ? "," : "");
        text_quote(result, ((struct scripted_operation *)cancelled.items[i])->script.name);
    }
    text_add(result, "]");
    free(cancelled.items);
}

// Calls what a step, or an action of a callback, asks for.
static const char *call(struct test_case *shared, const char *operation, const struct json *asked, struct text *result)
{
    struct purgatory_case *self = (struct purgatory_case *)shared;
    struct purgatory *purgatory = &self->purgatory;
    if (!strcmp(operation, "watch"))
        return watch(self, asked, result);
    if (!strcmp(operation, "check")) {
        text_add(result, "%zu", check_and_complete(purgatory, json_string(asked, "key")));
    } else if (!strcmp(operation, "cancel_for_key")) {
        cancel(self, json_string(asked, "key"), result);
    } else if (!strcmp(operation, "force")) {
        text_add(result, force_complete(&named(self, asked)->operation) ? "true" : "false");
    } else if (!strcmp(operation, "satisfy")) {
        script_satisfy(&named(self, asked)->script);
    } else if (!strcmp(operation, "elapse")) {
        purgatory->timer.now_ms = json_integer(asked, "to_ms", 0);
    } else if (!strcmp(operation, "advance")) {
        purgatory->timer.now_ms = json_integer(asked, "to_ms", 0);
        return advance(self, json_bool(asked, "refuse", false));
    } else if (!strcmp(operation, "run_one")) {
        purgatory_run_one(purgatory);
    } else if (!strcmp(operation, "shutdown")) {
        purgatory_shut_down(purgatory);
    } else {
        return unsupported;
    }
    return NULL;
}

static void observe(struct test_case *shared, struct text *observed)
{
    struct purgatory_case *self = (struct purgatory_case *)shared;
    struct purgatory_counts counts = purgatory_count(&self->purgatory);
    size_t pending = counts.timer_size + counts.queued;
    text_add(observed, "\"entries\":%zu,\"keys\":%zu,\"stale_entries\":%zu,\"timer_size\":%zu,\"queued\":%zu",
             counts.entries, counts.keys, counts.stale_entries, counts.timer_size, counts.queued);
    text_add(observed, ",\"pending\":%zu,\"estimate\":%zu", pending, pending + counts.stale_entries);
    if (self->was_completed)
        text_add(observed, ",\"callback_timer_size\":%zu", self->callback_timer_size);
    else
        text_add(observed, ",\"callback_timer_size\":null");
    self->was_completed = false;
}

static void drop(struct test_case *shared)
{
    struct purgatory_case *self = (struct purgatory_case *)shared;
    names_free(&self->operations, free);
    purgatory_free(&self->purgatory);
    free(self);
}

static struct test_case *create(const struct json *asked)
{
    int64_t tick_ms = json_integer(asked, "tick_ms", 1); // a wheel takes its wheel_size, too
    int64_t purge_interval = json_integer(asked, "purge_interval", 1000);
    if (tick_ms < 1 || tick_ms > INT32_MAX || purge_interval < 0)
        return NULL;
    struct purgatory_case *self = allocated(1, sizeof *self);
    self->shared = (struct test_case){call, observe, drop};
    pthread_mutex_init(&self->naming, NULL);
    self->purgatory.timer.tick_ms = tick_ms;
    self->purgatory.timer.now_ms = json_integer(asked, "start_ms", 0);
    self->purgatory.purge_interval = (size_t)purge_interval;
    self->purgatory.time_outs = json_bool(asked, "time_outs", true);
    return &self->shared;
}

const struct component purgatory_component = {"purgatory", profile, create};
