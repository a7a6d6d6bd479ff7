// SPDX-License-Identifier: CC0-1.0
#include "script.h"

#include "adapter.h"
#include "other_thread.h" // only: purgatory

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// An action, and the task or operation whose callback it is in.
struct deed {
    const char *name;
    const struct json *action;
};

static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER; // scripts, to their next try

static void act(void *argument)
{
    struct deed *deed = argument;
    struct text ignored = {0};
    const char *refusal = current->call(current, json_string(deed->action, "do"), deed->action, &ignored);
    if (refusal) // it does not end the script
        note("rejected", deed->name, refusal);
    free(ignored.bytes);
    free(deed);
}

static void act_all(const char *name, const struct json *action)
{
    for (; action; action = action->next) {
        struct deed *deed = allocated(1, sizeof *deed);
        *deed = (struct deed){name, action};
        const struct json *call = json_member(action, "call"); // only: purgatory
        if (call) { // another thread makes it, while this callback stands still // only: purgatory
            deed->action = call; // only: purgatory
            other_thread_call(act, deed); // only: purgatory
            continue; // only: purgatory
        } // only: purgatory
        act(deed);
    }
}

void script_ran(const struct script *script)
{
    note("ran", script->name, NULL);
    act_all(script->name, script->actions);
}

struct operation_script operation_script(const char *name, const struct json *asked)
{
    return (struct operation_script){
        .name = name,
        .tries = json_items(asked, "tries"),
        .on_try = json_items(asked, "on_try"),
        .on_complete = json_items(asked, "on_complete"),
        .on_expiration = json_items(asked, "on_expiration"),
    };
}

bool script_tried(struct operation_script *script)
{
    note("tried", script->name, NULL);
    pthread_mutex_lock(&turning);
    const struct json *answer = script->tries, *actions = script->on_try;
    if (answer && answer->next) // the last answer stands for all later ones
        script->tries = answer->next;
    if (actions)
        script->on_try = actions->next;
    bool completes = answer && answer->kind == JSON_STRING && !strcmp(answer->string, "complete");
    completes = completes || script->satisfied; // settled before the actions
    pthread_mutex_unlock(&turning);
    act_all(script->name, actions && actions->kind == JSON_ARRAY ? actions->first : NULL);
    return completes;
}

void script_satisfy(struct operation_script *script)
{
    pthread_mutex_lock(&turning);
    script->satisfied = true;
    pthread_mutex_unlock(&turning);
}

void script_completed(const struct operation_script *script)
{
    note("completed", script->name, NULL);
    act_all(script->name, script->on_complete);
}

void script_timed_out(const struct operation_script *script)
{
    note("timed_out", script->name, NULL);
    act_all(script->name, script->on_expiration);
}
