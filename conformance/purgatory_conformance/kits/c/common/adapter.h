// SPDX-License-Identifier: CC0-1.0
// What an adapter consists of: components, cases, events.
#ifndef ADAPTER_H
#define ADAPTER_H

#include "json.h"

// A component that is offered: what it declares, and how an instance is made.
struct component {
    const char *name;
    void (*profile)(struct text *profile); // writes it as JSON
    struct test_case *(*create)(const struct json *configuration); // NULL where it is refused
};

// An instance that is made, asked step by step, and dropped. What was read of its requests is kept
// for as long as it lives: names and scripts need no copy.
struct test_case {
    // Calls the implementation, and writes the result, if there is one. Returns NULL, or the
    // protocol's word for a refusal.
    const char *(*call)(struct test_case *self, const char *operation, const struct json *asked, struct text *result);
    // Writes the declared observables, as the members of an object.
    void (*observe)(struct test_case *self, struct text *observed);
    void (*drop)(struct test_case *self);
};

extern struct test_case *current;
extern bool stepped; // with --stepped what has expired waits until the runner has it run

// There is no such operation here: a refusal of its own.
extern const char unsupported[];

// Notes an event of the step; its reason is NULL unless it is "rejected". Any thread may.
void note(const char *kind, const char *task, const char *reason);

extern const struct component timer_component; // only: timer
extern const struct component purgatory_component; // only: purgatory
extern const struct component memory_pool_component; // only: memory_pool

#endif
