// SPDX-License-Identifier: CC0-1.0
// What has a name: a table that grows; nothing leaves it before it is freed.
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

struct named {
    const char *name; // of somebody else, who keeps it
    void *object;
};

struct names {
    struct named *places; // without a name where nothing is
    size_t count, room;
};

// The place of a name, which is made where there is none: its object is NULL at first.
struct named *names_place(struct names *names, const char *name);
void names_free(struct names *names, void (*free_object)(void *));

#endif
