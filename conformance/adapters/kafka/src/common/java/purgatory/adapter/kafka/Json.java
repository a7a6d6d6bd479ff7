// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;

/** Fields of the protocol's messages: required ones by type, large integers as decimal strings. */
final class Json {

    private static final long LARGEST_SAFE_INTEGER = (1L << 53) - 1;

    /** A request that lacks a field or carries one of another type; answered with {@code error}. */
    static final class BadRequest extends RuntimeException {
        private static final long serialVersionUID = 1;

        BadRequest(String problem) {
            super(problem);
        }
    }

    private Json() {
    }

    static JsonElement integer(long value) {
        boolean safe = -LARGEST_SAFE_INTEGER <= value && value <= LARGEST_SAFE_INTEGER;
        return safe ? new JsonPrimitive(value) : new JsonPrimitive(Long.toString(value));
    }

    static JsonArray words(String... words) {
        JsonArray array = new JsonArray(words.length);
        for (String word : words) {
            array.add(word);
        }
        return array;
    }

    static String text(JsonObject object, String field) {
        if (object.get(field) instanceof JsonPrimitive value && value.isString()) {
            return value.getAsString();
        }
        throw new BadRequest("'" + field + "' must be a string");
    }

    /** Whether an action that throws has the severe sort. */
    static boolean isSevere(JsonObject action) {
        return action.has("sort") && text(action, "sort").equals("severe");
    }

    static long integer(JsonObject object, String field) {
        if (object.get(field) instanceof JsonPrimitive value && !value.isBoolean()) {
            try {
                return Long.parseLong(value.getAsString());
            } catch (NumberFormatException notALong) {
                throw new BadRequest("'" + field + "' must be an integer of 64 bits");
            }
        }
        throw new BadRequest("'" + field + "' must be an integer");
    }

    static long integer(JsonObject object, String field, long absent) {
        return object.has(field) ? integer(object, field) : absent;
    }

    /** An integer where the released classes have an int. */
    static int small(JsonObject object, String field) {
        long value = integer(object, field);
        if (value != (int) value) {
            throw new Unsupported("'" + field + "' is an int here");
        }
        return (int) value;
    }

    static int small(JsonObject object, String field, int absent) {
        return object.has(field) ? small(object, field) : absent;
    }

    static boolean truth(JsonObject object, String field, boolean absent) {
        if (!object.has(field)) {
            return absent;
        }
        if (object.get(field) instanceof JsonPrimitive value && value.isBoolean()) {
            return value.getAsBoolean();
        }
        throw new BadRequest("'" + field + "' must be true or false");
    }

    /** Strings; none where the field is absent. */
    static List<String> texts(JsonObject object, String field) {
        List<String> texts = new ArrayList<>();
        for (JsonElement element : array(object, field)) {
            if (!(element instanceof JsonPrimitive value) || !value.isString()) {
                throw new BadRequest("'" + field + "' must be an array of strings");
            }
            texts.add(value.getAsString());
        }
        return List.copyOf(texts);
    }

    static JsonObject object(JsonObject object, String field) {
        if (object.get(field) instanceof JsonObject value) {
            return value;
        }
        throw new BadRequest("'" + field + "' must be an object");
    }

    static JsonArray array(JsonObject object, String field) {
        if (!object.has(field)) {
            return new JsonArray(0);
        }
        if (object.get(field) instanceof JsonArray value) {
            return value;
        }
        throw new BadRequest("'" + field + "' must be an array");
    }
}
