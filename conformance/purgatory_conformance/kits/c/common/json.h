// SPDX-License-Identifier: CC0-1.0
// Lines of JSON: a reader, and a text to write into.
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_INTEGER, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

// A value; those of an array or object are in a list, in their order.
struct json {
    enum json_kind kind;
    const char *name; // in an object
    const char *string;
    int64_t integer;
    struct json *first, *next;
    struct json *allocated; // the value that was made before it: all of a line are in one chain
};

// Reads a line; NULL where it is no JSON. json_free frees the whole chain of the last value made.
struct json *json_read(const char *line, struct json **chain);
void json_free(struct json *chain);

// The member of an object, or NULL; its first value, or NULL where it is no array.
const struct json *json_member(const struct json *object, const char *name);
const struct json *json_items(const struct json *object, const char *name);

// The value of a member, or another one where it is absent.
int64_t json_integer(const struct json *object, const char *name, int64_t absent);
bool json_bool(const struct json *object, const char *name, bool absent);
const char *json_string(const struct json *object, const char *name);

// A text that grows.
struct text {
    char *bytes;
    size_t length, room;
};

void text_add(struct text *text, const char *format, ...);
void text_quote(struct text *text, const char *string); // as a JSON string

void *allocated(size_t count, size_t size); // zeros; ends the program where there is no memory

#endif
