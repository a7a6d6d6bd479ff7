// SPDX-License-Identifier: CC0-1.0
// What a task or an operation under test does: yours calls these from its callbacks.
#ifndef SCRIPT_H
#define SCRIPT_H

#include "json.h"

// The script of a task: what it does when it runs.
struct script {
    const char *name;
    const struct json *actions;
};

void script_ran(const struct script *script);

// The script of an operation: its answers to tries, its actions in callbacks.
struct operation_script {
    const char *name;
    bool satisfied;
    const struct json *tries, *on_try; // those that come next
    const struct json *on_complete, *on_expiration;
};

struct operation_script operation_script(const char *name, const struct json *asked);

// A try: whether it is to complete the operation.
bool script_tried(struct operation_script *script);
void script_satisfy(struct operation_script *script);
void script_completed(const struct operation_script *script);
void script_timed_out(const struct operation_script *script);

#endif
