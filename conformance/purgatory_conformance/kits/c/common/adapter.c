// SPDX-License-Identifier: CC0-1.0
// Answers the runner: reads a request, has it carried out, writes the reply.
#include "adapter.h"

#include "other_thread.h" // only: purgatory

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct component *const components[] = {
    &timer_component, // only: timer
    &purgatory_component, // only: purgatory
    &memory_pool_component, // only: memory_pool
};
enum { COMPONENTS = sizeof components / sizeof *components };

struct test_case *current;
bool stepped;
const char unsupported[] = "unsupported";
static struct json *kept; // what was read for the present case
static struct text events;
static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;

void note(const char *kind, const char *task, const char *reason)
{
    pthread_mutex_lock(&noting);
    text_add(&events, "%s{\"kind\":\"%s\",\"task\":", events.length ? "," : "", kind);
    text_quote(&events, task);
    if (reason)
        text_add(&events, ",\"reason\":\"%s\"", reason == unsupported ? "internal" : reason);
    text_add(&events, "}");
    pthread_mutex_unlock(&noting);
}

static void hello(struct text *reply)
{
    text_add(reply, ",\"protocol\":1,\"implementation\":{\"name\":\"naive implementation\","
                    "\"version\":\"1\",\"language\":\"C\"},\"components\":{");
    for (int i = 0; i < COMPONENTS; i++) {
        text_add(reply, "%s\"%s\":", i ? "," : "", components[i]->name);
        components[i]->profile(reply);
    }
    text_add(reply, "}");
}

static void drop(void)
{
    if (current)
        current->drop(current);
    current = NULL;
    json_free(kept);
    kept = NULL;
}

static void create(const struct json *asked, struct text *reply)
{
    drop(); // it also replaces an instance that was never ended
    for (int i = 0; i < COMPONENTS; i++) {
        if (!strcmp(components[i]->name, json_string(asked, "component")))
            current = components[i]->create(json_member(asked, "configuration"));
    }
    if (!current)
        text_add(reply, ",\"error\":\"there is no such instance here\"");
}

static void carry_out(const struct json *asked, struct text *reply)
{
    struct text result = {0}, observed = {0};
    const char *operation = json_string(asked, "op");
    events.length = 0;
    const char *refusal = current->call(current, operation, asked, &result);
    other_thread_end_step(); // only: purgatory
    if (refusal == unsupported) {
        text_add(reply, ",\"unsupported\":\"there is no such operation here\"");
    } else {
        if (refusal)
            text_add(reply, ",\"rejected\":\"%s\"", refusal);
        else if (result.length)
            text_add(reply, ",\"result\":%s", result.bytes);
        current->observe(current, &observed);
        text_add(reply, ",\"events\":[%s],\"observed\":{%s}", events.length ? events.bytes : "", observed.bytes);
    }
    free(result.bytes);
    free(observed.bytes);
}

// Answers a request; false where it is the last one.
static bool answer(const struct json *asked, struct text *reply)
{
    const char *request = json_string(asked, "request");
    text_add(reply, "{\"id\":%" PRId64, json_integer(asked, "id", 0)); // 0 where it cannot be read
    if (!asked)
        text_add(reply, ",\"error\":\"that is no JSON\"");
    else if (!strcmp(request, "hello"))
        hello(reply);
    else if (!strcmp(request, "new"))
        create(asked, reply);
    else if (!strcmp(request, "end"))
        drop();
    else if (!strcmp(request, "do") && current)
        carry_out(json_member(asked, "operation"), reply);
    else
        text_add(reply, ",\"unsupported\":\"there is no such request here\"");
    text_add(reply, "}\n");
    return strcmp(request, "stop");
}

int main(int count, char **arguments)
{
    stepped = count > 1 && !strcmp(arguments[1], "--stepped");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0) { // until "stop" or the end of input
        if (!line[strspn(line, " \t\r\n")])
            continue;
        struct json *chain, *asked = json_read(line, &chain);
        struct json **end = &chain; // what was read before stays for the scripts of the case
        struct text reply = {0};
        bool goes_on = answer(asked, &reply);
        while (*end)
            end = &(*end)->allocated;
        *end = kept;
        kept = chain;
        if (goes_on && (fputs(reply.bytes, stdout) < 0 || fflush(stdout)))
            goes_on = false; // the runner has gone
        free(reply.bytes);
        if (!goes_on)
            break;
    }
    drop();
    free(line);
    free(events.bytes);
}
