// SPDX-License-Identifier: CC0-1.0
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

struct reader {
    const char *at;
    struct json *chain;
    int depth;
};

static struct json *read_value(struct reader *reader);

void *allocated(size_t count, size_t size)
{
    void *zeros = calloc(count ? count : 1, size);
    if (!zeros) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return zeros;
}

static bool takes(struct reader *reader, char expected)
{
    reader->at += strspn(reader->at, " \t\r\n");
    if (*reader->at != expected)
        return false;
    reader->at++;
    return true;
}

static bool takes_word(struct reader *reader, const char *word)
{
    if (strncmp(reader->at, word, strlen(word)))
        return false;
    reader->at += strlen(word);
    return true;
}

static char *add_utf8(char *end, unsigned long code)
{
    if (code < 0x80) {
        *end++ = (char)code;
    } else if (code < 0x800) {
        *end++ = (char)(0xC0 | code >> 6);
        *end++ = (char)(0x80 | (code & 0x3F));
    } else {
        if (code < 0x10000) {
            *end++ = (char)(0xE0 | code >> 12);
        } else {
            *end++ = (char)(0xF0 | code >> 18);
            *end++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *end++ = (char)(0x80 | (code >> 6 & 0x3F));
        *end++ = (char)(0x80 | (code & 0x3F));
    }
    return end;
}

// Reads the four digits behind \u; -1 where they are none.
static long read_unit(struct reader *reader)
{
    char digits[5] = "";
    for (int i = 0; i < 4 && isxdigit((unsigned char)reader->at[i]); i++)
        digits[i] = reader->at[i];
    if (strlen(digits) < 4)
        return -1;
    reader->at += 4;
    return strtol(digits, NULL, 16);
}

static bool read_escape(struct reader *reader, char **end)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = *reader->at ? *reader->at++ : '?';
    const char *found = strchr(letters, letter);
    if (found) {
        *(*end)++ = meant[found - letters];
        return true;
    }
    long unit = letter == 'u' ? read_unit(reader) : -1;
    if (unit >= 0xD800 && unit < 0xDC00 && takes_word(reader, "\\u")) {
        long low = read_unit(reader);
        unit = low < 0xDC00 || low > 0xDFFF ? -1 : 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00;
    }
    if (unit <= 0) // a string of C has no zero in it
        return false;
    *end = add_utf8(*end, (unsigned long)unit);
    return true;
}

// Reads a string behind its first quotation mark; what it becomes is never longer than its source.
static const char *read_string(struct reader *reader)
{
    char *string = allocated(strcspn(reader->at, "\n") + 1, 1), *end = string;
    while ((unsigned char)*reader->at >= ' ' && *reader->at != '"') {
        char letter = *reader->at++;
        if (letter != '\\') {
            *end++ = letter;
        } else if (!read_escape(reader, &end)) {
            break;
        }
    }
    if (*reader->at++ != '"') {
        free(string);
        return NULL;
    }
    char *fitting = realloc(string, (size_t)(end - string) + 1);
    return fitting ? fitting : string;
}

static bool read_items(struct reader *reader, struct json *value, bool is_object)
{
    char closing = is_object ? '}' : ']';
    struct json **last = &value->first;
    if (takes(reader, closing))
        return true;
    do {
        const char *name = NULL;
        if (is_object && (!takes(reader, '"') || !(name = read_string(reader))))
            return false;
        struct json *item = !is_object || takes(reader, ':') ? read_value(reader) : NULL;
        if (!item) {
            free((char *)name);
            return false;
        }
        item->name = name;
        *last = item;
        last = &item->next;
    } while (takes(reader, ','));
    return takes(reader, closing);
}

static bool read_number(struct reader *reader, struct json *value)
{
    static const char digits[] = "0123456789";
    const char *begin = reader->at;
    size_t length = strspn(begin + (*begin == '-'), digits) + (*begin == '-');
    if (length == (size_t)(*begin == '-'))
        return false;
    errno = 0;
    value->integer = strtoll(begin, NULL, 10);
    value->kind = errno || strchr(".eE", begin[length] ? begin[length] : '?') ? JSON_REAL : JSON_INTEGER;
    reader->at = begin + length + strspn(begin + length, ".eE+-0123456789");
    return true;
}

static bool read_into(struct reader *reader, struct json *value)
{
    if (takes(reader, '"')) {
        value->kind = JSON_STRING;
        return (value->string = read_string(reader)) != NULL;
    }
    if (takes(reader, '{')) {
        value->kind = JSON_OBJECT;
        return read_items(reader, value, true);
    }
    if (takes(reader, '[')) {
        value->kind = JSON_ARRAY;
        return read_items(reader, value, false);
    }
    static const char *const words[] = {"null", "false", "true"};
    for (int kind = JSON_NULL; kind <= JSON_TRUE; kind++) {
        if (takes_word(reader, words[kind])) {
            value->kind = (enum json_kind)kind;
            return true;
        }
    }
    return read_number(reader, value);
}

static struct json *read_value(struct reader *reader)
{
    struct json *value = allocated(1, sizeof *value);
    value->allocated = reader->chain;
    reader->chain = value;
    bool read = ++reader->depth <= DEEPEST && read_into(reader, value);
    reader->depth--;
    return read ? value : NULL;
}

struct json *json_read(const char *line, struct json **chain)
{
    struct reader reader = {.at = line};
    struct json *value = read_value(&reader);
    *chain = reader.chain;
    return value && takes(&reader, '\0') ? value : NULL;
}

void json_free(struct json *chain)
{
    while (chain) {
        struct json *before = chain->allocated;
        free((char *)chain->name);
        free((char *)chain->string);
        free(chain);
        chain = before;
    }
}

const struct json *json_member(const struct json *object, const char *name)
{
    const struct json *member = object && object->kind == JSON_OBJECT ? object->first : NULL;
    while (member && strcmp(member->name, name))
        member = member->next;
    return member;
}

const struct json *json_items(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    return member && member->kind == JSON_ARRAY ? member->first : NULL;
}

int64_t json_integer(const struct json *object, const char *name, int64_t absent)
{
    const struct json *member = json_member(object, name);
    return member && member->kind == JSON_INTEGER ? member->integer : absent;
}

bool json_bool(const struct json *object, const char *name, bool absent)
{
    const struct json *member = json_member(object, name);
    return member ? member->kind == JSON_TRUE : absent;
}

const char *json_string(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    return member && member->kind == JSON_STRING ? member->string : "";
}

void text_add(struct text *text, const char *format, ...)
{
    for (int pass = 0; pass < 2; pass++) { // the first may only say how much room it needs
        va_list arguments;
        va_start(arguments, format);
        size_t left = text->room - text->length;
        int length = vsnprintf(text->bytes ? text->bytes + text->length : NULL, left, format, arguments);
        va_end(arguments);
        if ((size_t)length < left) {
            text->length += (size_t)length;
            return;
        }
        text->room = 2 * (text->length + (size_t)length + 1);
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes)
            exit(1);
    }
}

void text_quote(struct text *text, const char *string)
{
    text_add(text, "\"");
    for (; *string; string++) {
        unsigned char letter = (unsigned char)*string;
        if (letter == '"' || letter == '\\')
            text_add(text, "\\%c", letter);
        else
            text_add(text, letter < ' ' ? "\\u%04x" : "%c", letter);
    }
    text_add(text, "\"");
}
