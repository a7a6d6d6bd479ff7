// SPDX-License-Identifier: CC0-1.0
#include "names.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>

static struct named *find(struct named *places, size_t room, const char *name)
{
    size_t hash = 14695981039346656037u;
    for (const char *letter = name; *letter; letter++)
        hash = (hash ^ (unsigned char)*letter) * 1099511628211u;
    struct named *place = &places[hash % room];
    while (place->name && strcmp(place->name, name))
        place = place + 1 == places + room ? places : place + 1;
    return place;
}

struct named *names_place(struct names *names, const char *name)
{
    if (2 * names->count >= names->room) {
        struct names grown = {.count = names->count, .room = 2 * names->room + 16};
        grown.places = allocated(grown.room, sizeof *grown.places);
        for (size_t i = 0; i < names->room; i++) {
            if (names->places[i].name)
                *find(grown.places, grown.room, names->places[i].name) = names->places[i];
        }
        free(names->places);
        *names = grown;
    }
    struct named *place = find(names->places, names->room, name);
    if (!place->name) {
        place->name = name;
        names->count++;
    }
    return place;
}

void names_free(struct names *names, void (*free_object)(void *))
{
    for (size_t i = 0; i < names->room; i++) {
        if (names->places[i].object)
            free_object(names->places[i].object);
    }
    free(names->places);
}
